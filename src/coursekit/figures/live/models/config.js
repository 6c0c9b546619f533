// The config of a model, as its file of weights has it: what all of the course's models read first.

/** Say no to a config that asks for what is not written here. */
export function check(weights, kind, allowed) {
  const { class: name, config } = weights.about;
  if (!name?.endsWith(`.${kind}`)) throw new Error(`the file holds a ${name}; a ${kind} is expected`);
  for (const [key, values] of Object.entries(allowed)) {
    if (!values.includes(config[key])) throw new Error(`${key} = ${config[key]} is not written here`);
  }
  return config;
}

/** What the blocks of a config are; its names are those of the Python package. */
export const blocksOf = ({ depth, heads, eps, activation }, more) => ({ depth, heads, eps, activation, ...more });
