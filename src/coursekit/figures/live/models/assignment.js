// Which column answers for which row, when each row needs a column of its own.

/** Costs (n, Q ≥ n) -> a column for each row: the cheapest pair of what is left, again and again. */
export function greedy(cost) {
  const chosen = cost.map(() => -1);
  for (let n = 0; n < cost.length; n++) {
    let best = { price: Infinity };
    cost.forEach((prices, row) => prices.forEach((price, column) => {
      const free = chosen[row] < 0 && !chosen.includes(column);
      if (free && price < best.price) best = { price, row, column };
    }));
    chosen[best.row] = best.column;
  }
  return chosen;
}

/** Costs (n, Q ≥ n) -> a column for each row with the smallest sum, in O(n² Q) steps (Kuhn, 1955). */
export function hungarian(cost) {
  const columns = cost[0]?.length ?? 0;
  const paid = { rows: cost.map(() => 0), columns: Array(columns).fill(0) }; // the potentials
  const owner = Array(columns).fill(-1); // the row that has a column
  cost.forEach((_, begun) => {
    const least = Array(columns).fill(Infinity); // what is missing for a column to be reached
    const from = Array(columns).fill(-1); // the column before it on the way there
    const seen = new Set();
    let [row, last] = [begun, -1];
    while (row >= 0) {
      let [missing, next] = [Infinity, -1];
      for (let column = 0; column < columns; column++) {
        if (seen.has(column)) continue;
        const reduced = cost[row][column] - paid.rows[row] - paid.columns[column];
        if (reduced < least[column]) [least[column], from[column]] = [reduced, last];
        if (least[column] < missing) [missing, next] = [least[column], column];
      }
      paid.rows[begun] += missing;
      for (const column of seen) {
        paid.rows[owner[column]] += missing;
        paid.columns[column] -= missing;
      }
      for (let column = 0; column < columns; column++) if (!seen.has(column)) least[column] -= missing;
      seen.add(next);
      [row, last] = [owner[next], next];
    }
    for (let column = last; column >= 0; column = from[column]) {
      owner[column] = from[column] >= 0 ? owner[from[column]] : begun;
    }
  });
  return cost.map((_, row) => owner.indexOf(row));
}
