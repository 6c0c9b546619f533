// The course's models of pictures; behind `models.js`.

/** ViT: a picture in patches, each a token, and a class token that the answer is read from. */
export class ViT {
  constructor(weights) {
    const config = check(weights, "ViT", {
      channels: [1], class_token: [true], pool: ["class"], positions: ["1d"], told: ["once"],
      representation: [0], backbone_channels: [0],
    });
    this.config = config;
    const flat = (tensor) => ({ shape: [tensor.shape[0], config.patch ** 2], data: tensor.data });
    this.embedding = { weight: flat(weights.get("embedding.weight")), bias: weights.get("embedding.bias") };
    const rows = ({ shape, data }) => ({ shape: shape.slice(1), data }); // without the batch of one
    this.classToken = row(rows(weights.get("class_token")), 0);
    this.positions = rows(weights.get("positions.weight"));
    this.head = { weight: weights.get("head.weight"), bias: weights.get("head.bias") };
    this.stack = new Stack(weights.below("stack"), blocksOf(config, { norm: "pre" }));
  }

  /** A picture, row by row (image²) -> its patches row by row, (N, patch²). */
  patchify(picture) {
    const { image, patch } = this.config;
    const side = Math.floor(image / patch);
    return Array.from({ length: side ** 2 }, (_, n) =>
      Float32Array.from({ length: patch ** 2 }, (_, i) => {
        const y = Math.floor(n / side) * patch + Math.floor(i / patch);
        return picture[y * image + (n % side) * patch + (i % patch)];
      }),
    );
  }

  /** A picture -> logits of its classes; token 0 of the attention maps is the class token. */
  forward(picture, { seen = null } = {}) {
    const patches = this.patchify(picture).map((x) => linear(x, this.embedding.weight, this.embedding.bias));
    const x = [this.classToken, ...patches].map((vector, t) => add(vector, row(this.positions, t)));
    return linear(this.stack.forward(x, { seen })[0], this.head.weight, this.head.bias);
  }
}
