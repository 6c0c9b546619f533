"""Our answers in another form that is equal on paper, and rounds elsewhere.

For each question with scores in the hundreds, or with a case that looks more closely than usual:
`old` stands in our answer, `new` takes its place, and nobody may lose a point for it.
"""

from __future__ import annotations

SCALED = "q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])"
SCALED_FIRST = "(q * q.shape[-1] ** -0.5) @ k.transpose(-2, -1)"
SPEEDS = "base ** (-torch.arange(0, {0}, 2{1}) / {0})"
LOG = "torch.tensor(base).double().log().item()"  # math.log(base), where math is not imported
SPEEDS_BY_EXP = f"(-{LOG} / {{0}} * torch.arange(0, {{0}}, 2{{1}})).exp()"

EQUAL = [
    (
        "shares",
        "raised / raised.sum(dim=-1, keepdim=True)",
        "(scores - scores.logsumexp(dim=-1, keepdim=True)).exp()",
    ),
    (
        "gaussian_scores",
        "-(difference.square() / (2 * bandwidth**2)).sum(dim=-1)",
        "-0.5 * (difference / bandwidth).square().sum(dim=-1)",
    ),
    (
        "predict",
        "-((query[:, None] - x[None]) ** 2) / (2 * bandwidth**2)",
        "-0.5 * ((query[:, None] - x[None]) / bandwidth) ** 2",
    ),
    ("self_attention", SCALED, SCALED_FIRST),
    (
        "score_factor",
        "1 / math.sqrt(width * q_variance * k_variance)",
        "width**-0.5 * q_variance**-0.5 * k_variance**-0.5",
    ),
    ("scaled_attention", SCALED, SCALED_FIRST),
    (
        "entropy_bits",
        "torch.special.xlogy(weights, weights).sum(dim=-1) / math.log(2)",
        "(weights * weights.clamp(min=torch.finfo(weights.dtype).tiny).log2()).sum(dim=-1)",
    ),
    (
        "tempered",
        "(scores / temperature)",
        "((scores - scores.amax(dim=-1, keepdim=True)) / temperature)",
    ),
    (
        "query_gradient",
        "p * (upstream - (p * upstream).sum(dim=-1, keepdim=True))",
        "p * upstream - p * (p * upstream).sum(dim=-1, keepdim=True)",
    ),
    (
        "masked_shares",
        "raised / total.where(total > 0, 1.0)",
        "raised * total.where(total > 0, 1.0).reciprocal()",
    ),
    (
        "window_attention",
        "(q[..., None, :] * keys).sum(dim=-1) / math.sqrt(q.shape[-1])",
        "(q[..., None, :] / math.sqrt(q.shape[-1]) * keys).sum(dim=-1)",
    ),
    ("head_contributions", "x @ bands", 'torch.einsum("bhtk,hkd->bhtd", x, bands)'),
    ("grouped_attention", SCALED, SCALED_FIRST),
    ("cached_attention", SCALED, SCALED_FIRST),
    (
        "sinusoids",
        SPEEDS.format("width", ", dtype=places.dtype"),
        SPEEDS_BY_EXP.format("width", ", dtype=places.dtype"),
    ),
    ("shift", SPEEDS.format("width", ""), SPEEDS_BY_EXP.format("width", "")),
    (
        "turn",
        SPEEDS.format("x.shape[-1]", ", dtype=x.dtype"),
        SPEEDS_BY_EXP.format("x.shape[-1]", ", dtype=x.dtype"),
    ),
    ("RotaryAttention", SCALED, SCALED_FIRST),
    (
        "gelu",
        "x * 0.5 * (1 + torch.erf(z / math.sqrt(2)))",
        "0.5 * x * torch.erfc(-z * math.sqrt(0.5))",
    ),
    (
        "FeedForward",
        "self.contract(gelu(self.expand(x), 1.0))",
        "gelu(x @ self.expand.weight.T + self.expand.bias, 1.0) @ self.contract.weight.T"
        " + self.contract.bias",
    ),
    (
        "apart",
        "rest.norm(dim=(-2, -1)) / tokens.norm(dim=(-2, -1))",
        "(rest.square().sum(dim=(-2, -1)) / tokens.square().sum(dim=(-2, -1))).sqrt()",
    ),
    (
        "TokenNorm",
        "(x - mean) / (var + self.eps).sqrt()",
        "(x - mean) * (var + self.eps).rsqrt()",
    ),
    ("Block", "need_weights=False", "need_weights=True"),
    (
        "smoothed_loss",
        "logits.log_softmax(dim=-1)",
        "logits - logits.logsumexp(dim=-1, keepdim=True)",
    ),
    (
        "average_weights",
        "sum(share * state[name].double() for share, state in zip(shares, checkpoints))\n"
        "        mean = total / sum(shares)",
        "sum(share / sum(shares) * state[name].double()"
        " for share, state in zip(shares, checkpoints))\n        mean = total",
    ),
    (
        "paper_rate",
        "width**-0.5 * min(step**-0.5, step * warmup**-1.5)",
        "min(1 / step**0.5, step / warmup / warmup**0.5) / width**0.5",
    ),
    ("adamw_step", "betas[0] * m + (1 - betas[0]) * g", "m + (1 - betas[0]) * (g - m)"),
    (
        "adamw_step",
        "w * (1 - lr * decay) - lr * mean / (square.sqrt() + eps)",
        "w - lr * (mean / (square.sqrt() + eps) + decay * w)",
    ),
    (
        "blank_scores",
        'F.layer_norm(x, x.shape[-1:], head["norm.weight"], head["norm.bias"], eps=1e-12)',
        "(x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, correction=0) + 1e-12).sqrt()"
        ' * head["norm.weight"] + head["norm.bias"]',
    ),
    (
        "layer_rates",
        "rates[name] = peak * decay**distance",
        "rates[name] = peak\n        for _ in range(distance):\n            rates[name] *= decay",
    ),
    (
        "span_loss",
        "logs = scores.masked_fill(~passage, -torch.inf).log_softmax(dim=-1)",
        "scores = scores.masked_fill(~passage, -torch.inf)\n"
        "        logs = scores - scores.logsumexp(dim=-1, keepdim=True)",
    ),
    ("next_token", "logits / temperature", "logits * (1 / temperature)"),
    (
        "next_token",
        "logits / temperature",
        "(logits - logits.amax(dim=-1, keepdim=True)) / temperature",
    ),
    (
        "bits_per_byte",
        "logits[:, :-1].log_softmax(dim=-1)",
        "logits[:, :-1] - logits[:, :-1].logsumexp(dim=-1, keepdim=True)",
    ),
    ("task_sequences", "stacked.sum(dim=0) @ head.T", "(stacked @ head.T).sum(dim=0)"),
    (
        "marginal_loss",
        "-joint.logsumexp(dim=-1).mean()",
        "(relevance.logsumexp(dim=-1) - (relevance + logs).logsumexp(dim=-1)).mean()",
    ),
    ("pair_reward_loss", "-F.logsigmoid(lead).mean()", "F.softplus(-lead).mean()"),
    ("prefer", "-F.logsigmoid(beta * margin).mean()", "F.softplus(-beta * margin).mean()"),
    (
        "prefer",
        "gap.masked_fill(~answer, 0.0).sum(dim=-1)",
        "policy.masked_fill(~answer, 0.0).sum(dim=-1)"
        " - reference.detach().masked_fill(~answer, 0.0).sum(dim=-1)",
    ),
    (
        "kl_of_sample",
        "gap.masked_fill(~answer, 0.0).sum(dim=-1)",
        "policy.detach().masked_fill(~answer, 0.0).sum(dim=-1)"
        " - reference.detach().masked_fill(~answer, 0.0).sum(dim=-1)",
    ),
    ("look_around", "shares @ values @ v.T", "shares @ (values @ v.T)"),
    ("spectral", "u @ rows @ v", "u @ (rows @ v)"),
    ("spectral", "weight / sigma", "weight * (1 / sigma)"),
    ("hinge", "missing.mean()", "missing.sum() / missing.numel()"),
    (
        "frechet",
        "squares = torch.linalg.eigvals(ca @ cb).real.clamp(min=0)",
        "size, axes = torch.linalg.eigh(ca)\n"
        "    root = axes * size.clamp(min=0).sqrt() @ axes.T\n"
        "    squares = torch.linalg.eigvalsh(root @ cb @ root).clamp(min=0)",
    ),
    (
        "attention_distance",
        "(shares * pixels).sum(dim=-1)",
        "(seen * pixels).sum(dim=-1) / seen.sum(dim=-1)",
    ),
    (
        "resize_places",
        'F.interpolate(x, size=new, mode="bilinear", align_corners=False)',
        'F.interpolate(torch.eye(old[0]).to(x)[None], size=new[0], mode="linear")[0].T @ x'
        ' @ F.interpolate(torch.eye(old[1]).to(x)[None], size=new[1], mode="linear")[0]',
    ),
    (
        "few_shot",
        "torch.linalg.solve(x.T @ x + ridge * eye, x.T @ y)",
        "x.T @ torch.linalg.solve(x @ x.T + ridge * torch.eye(len(x)).to(x), y)",
    ),
    ("own_scale", "(patches - mean) / spread", "(patches - mean) * (1 / spread)"),
    (
        "own_scale",
        "variance, mean = torch.var_mean(patches, dim=-1, keepdim=True)",
        "mean = patches.sum(dim=-1, keepdim=True) / patches.shape[-1]\n"
        "    squares = (patches - mean).square().sum(dim=-1, keepdim=True)\n"
        "    variance = squares / (patches.shape[-1] - 1)",
    ),
    ("paint_loss", "(error * hidden).sum()", "error[hidden.bool()].sum()"),
    (
        "distil",
        "(teacher.exp() * (teacher - student)).sum(dim=-1)",
        'F.kl_div(student, teacher, reduction="none", log_target=True).sum(dim=-1)',
    ),
    ("distil", "(distil_logits / temperature)", "(distil_logits * (1 / temperature))"),
    (
        "mix_pictures",
        "share * images + (1 - share) * theirs",
        "theirs + share * (images - theirs)",
    ),
    (
        "shifted_attention",
        "q @ k.mT / D**0.5",
        "(q / D**0.5) @ k.mT",
    ),
    (
        "merge",
        "(x - mean) / (variance + eps).sqrt()",
        "(x - mean) * ((x - mean).square().mean(dim=-1, keepdim=True) + eps).rsqrt()",
    ),
    (
        "giou",
        "(hull - either) / whole",
        "(1 - either / whole).where(hull > 0, 0)",
    ),
    (
        "pair_up",
        "(true[b][:, None] - boxes[b]).abs().sum(dim=-1)",
        "torch.cdist(true[b], boxes[b], p=1)",
    ),
    (
        "set_loss",
        "F.cross_entropy(logits.flatten(0, 1), answer.flatten(), weight)",
        "(weight[answer] * (logits.logsumexp(dim=-1) - logits.gather(-1, answer[..., None])[..., 0]"
        ")).sum() / weight[answer].sum()",
    ),
]

# Numbers that are moved, or added once: there is no other form.
MOVED = {"add_places", "cut", "prepare_tokens", "windows"}
