// Weights from a file in the format safetensors: 8 bytes for the length of a header in JSON, the
// header, the numbers. A tensor is { shape, data }; half precision becomes single.

/** What a file or a widget hands over (base64, or a view of bytes) -> its bytes. */
export function asBytes(content) {
  if (typeof content !== "string") {
    return new Uint8Array(content.buffer, content.byteOffset, content.byteLength);
  }
  const text = atob(content);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** The number whose 16 bits these are. */
function half(bits) {
  const sign = bits >> 15 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Numbers of 16 bits -> single precision. */
function widened(halves) {
  const every = Float32Array.from({ length: 65536 }, (_, bits) => half(bits));
  const singles = new Float32Array(halves.length);
  for (let i = 0; i < singles.length; i++) singles[i] = every[halves[i]];
  return singles;
}

export class Weights {
  /** `tensors` by name; a model looks for them below `prefix`. */
  constructor(tensors, about = {}, prefix = "") {
    Object.assign(this, { tensors, about, prefix });
  }

  static read(content) {
    const bytes = asBytes(content);
    const size = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + size)));
    const about = JSON.parse(header.__metadata__?.about ?? "{}"); // what the training says of it
    delete header.__metadata__;
    const { buffer } = bytes.slice(8 + size);
    const singles = widened(new Uint16Array(buffer));
    const tensors = new Map();
    for (const [name, { dtype, shape, data_offsets: offsets }] of Object.entries(header)) {
      if (dtype === "I64") continue; // a count of batches
      if (dtype !== "F16") throw new Error(`${name} has the type ${dtype}; F16 is expected`);
      const [begin, end] = offsets.map((offset) => offset / 2);
      tensors.set(name, { shape, data: singles.subarray(begin, end) });
    }
    return new Weights(tensors, about);
  }

  below(name) {
    return new Weights(this.tensors, this.about, `${this.prefix}${name}.`);
  }

  has(name) {
    return this.tensors.has(this.prefix + name);
  }

  /** A tensor, or an error that names what is missing. */
  get(name) {
    if (!this.has(name)) throw new Error(`the file has no weights ${this.prefix}${name}`);
    return this.tensors.get(this.prefix + name);
  }

  /** The same, or null where a model may do without. */
  find(name) {
    return this.has(name) ? this.get(name) : null;
  }
}
