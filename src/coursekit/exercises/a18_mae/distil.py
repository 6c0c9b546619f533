"""DeiT's loss: one head learns the labels, the other what a teacher says."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from coursekit.exercises.probe import after, gradients, randn
from coursekit.exercises.question import Question


def distil(class_logits, distil_logits, teacher_logits, labels, temperature=None, weight=0.5):
    """Three times logits (B, K), labels (B,) -> the loss, one number."""
    truth = F.cross_entropy(class_logits, labels)
    if temperature is None:
        taught = F.cross_entropy(distil_logits, teacher_logits.argmax(dim=-1))
    else:
        student = (distil_logits / temperature).log_softmax(dim=-1)  # (B, K)
        teacher = (teacher_logits.detach() / temperature).log_softmax(dim=-1)  # (B, K)
        gap = (teacher.exp() * (teacher - student)).sum(dim=-1)  # (B,)
        taught = temperature**2 * gap.mean()
    return (1 - weight) * truth + weight * taught


QUESTION = Question(
    name="distil",
    title="Two heads, two teachers",
    points=5,
    difficulty=3,
    minutes=35,
    page="mae.html#sec-mae-deit",
    hint="Write the two losses apart. The first is a cross-entropy of one head with the labels, as "
    "ever. The second concerns the other head alone. Without a temperature it is a cross-entropy "
    "once more: which labels does it have? With one, take the logarithms of both distributions "
    "first; which of the two weighs the differences? At the end ask of each of the three logits "
    "whether it may have a gradient.",
    reference=distil,
    forbidden=("coursekit",),
)


def heads(
    images: int, classes: int, seed: int, scale: float = 2.0, dtype: torch.dtype = torch.float32
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the logits of two heads and of a teacher who errs now and then, and labels."""
    logits = [
        scale * randn(images, classes, seed=seed + n, dtype=dtype) + 0.5 * n for n in range(3)
    ]
    chance = torch.Generator().manual_seed(seed)
    return *logits, torch.randint(classes, (images,), generator=chance)


@QUESTION.visible(says="one image, two classes: hard, and soft at temperature 2")
def one_image(student):
    given = [torch.tensor([row]) for row in ([0.0, 1.0], [2.0, 0.0], [0.0, 3.0])]
    return [student.distil(*given, torch.tensor([0]), heat) for heat in (None, 2.0)]


@QUESTION.visible(says="six images, what the teacher decides for", weight=2)
def hard(student):
    return student.distil(*heads(6, 5, seed=100))


@QUESTION.visible(says="six images at several temperatures", weight=2)
def soft(student):
    return [student.distil(*heads(6, 5, seed=104), heat) for heat in (3.0, 1.0, 0.5)]


@QUESTION.visible(says="other weights, hard and soft")
def other_weights(student):
    given = heads(4, 3, seed=108)
    return [student.distil(*given, heat, weight) for heat in (None, 4) for weight in (0, 0.1, 1)]


@QUESTION.visible(says="gradients of the hard loss")
def gradients_hard(student):
    return gradients(student.distil, *heads(5, 5, seed=112))


@QUESTION.visible(says="gradients of the soft loss")
def gradients_soft(student):
    return gradients(student.distil, *heads(5, 5, seed=116), 2.5, 0.3)


@QUESTION.visible(says="logits in the thousands, hard and soft")
def thousands(student):
    return [
        gradients(student.distil, *heads(4, 6, seed=120, scale=3000.0), heat)
        for heat in (None, 3.0)
    ]


@QUESTION.visible(says="what was given stays as it was; double precision")
def what_was_given_stays(student):
    given = heads(3, 4, seed=124, dtype=torch.float64)
    return [after(student.distil, *given, heat) for heat in (None, 2.0)]


TRUTH = "F.cross_entropy(class_logits, labels)"
HARD = "F.cross_entropy(distil_logits, teacher_logits.argmax(dim=-1))"
GAP = "gap = (teacher.exp() * (teacher - student)).sum(dim=-1)"
SOFT = "taught = temperature**2 * gap.mean()"
STUDENT = "(distil_logits / temperature).log_softmax(dim=-1)"
TEACHER = "(teacher_logits.detach() / temperature).log_softmax(dim=-1)"
END = "return (1 - weight) * truth + weight * taught"
START = f"truth = {TRUTH}"

QUESTION.mistake(
    "no T²",
    old="temperature**2 * gap",
    new="gap",
    hint="A factor is missing in the soft loss: T² = temperature². The temperature makes the "
    "gradients of the distillation head smaller by about that much.",
)

QUESTION.mistake(
    "T for T²",
    old="temperature**2 * gap",
    new="temperature * gap",
    hint="Your soft loss is multiplied with the temperature. It is its square: T divides the "
    "student's logits, and the teacher's differences as well.",
)

QUESTION.mistake(
    "divided by T²",
    old="temperature**2 * gap.mean()",
    new="gap.mean() / temperature**2",
    hint="You divide the soft loss by T². The temperature has made it small already; the factor "
    "makes up for that.",
)

QUESTION.mistake(
    "T² on the whole loss",
    old=END,
    new=f"if temperature is not None:\n        truth = temperature**2 * truth\n    {END}",
    hint="You multiply the labels' loss with T² as well. No temperature has made it smaller: the "
    "factor belongs to the teacher's part alone.",
)

QUESTION.mistake(
    "KL reversed",
    old=GAP,
    new="gap = (student.exp() * (student - teacher)).sum(dim=-1)",
    hint="Your KL is that of the student from the teacher. The teacher's distribution weighs the "
    "differences: KL(teacher ‖ student).",
)

QUESTION.mistake(
    "KL with the wrong sign",
    old="(teacher - student)",
    new="(student - teacher)",
    hint="Your soft loss is negative. In the logarithm the teacher stands above.",
)

QUESTION.mistake(
    "probabilities for logarithms",
    old="(teacher - student)",
    new="(teacher - student.exp())",
    hint="You give torch's kl_div probabilities of the student. It wants their logarithms first, "
    "and then the probabilities of the teacher.",
)

QUESTION.mistake(
    "cross-entropy for KL",
    old="(teacher - student)",
    new="(-student)",
    hint="Your soft loss is the cross-entropy with the teacher's distribution. It has the same "
    "gradients, but is larger by the teacher's own entropy, and not 0 where both agree.",
)

QUESTION.mistake(
    "cross-entropy for KL, no T²",
    old=f"{GAP}  # (B,)\n        {SOFT}",
    new="taught = -(teacher.exp() * student).sum(dim=-1).mean()",
    hint="Two things in the soft loss: the factor T² is missing, and it is a cross-entropy. The KL "
    "is smaller by the teacher's own entropy, and 0 where both agree.",
)

QUESTION.mistake(
    "KL reversed, no T²",
    old=f"{GAP}  # (B,)\n        {SOFT}",
    new="taught = (student.exp() * (student - teacher)).sum(dim=-1).mean()",
    hint="Two things in the soft loss: the factor T² is missing, and the KL is reversed. The "
    "teacher's distribution weighs the differences.",
)

QUESTION.mistake(
    "divided by the classes as well",
    old="gap.mean()",
    new="gap.mean() / distil_logits.shape[-1]",
    hint="You divide the soft loss by the number of classes too, as torch's kl_div does with "
    '"mean". Add up over the classes and average over the images: "batchmean".',
)

QUESTION.mistake(
    "divided by the classes as well, no T²",
    old="temperature**2 * gap.mean()",
    new="gap.mean() / distil_logits.shape[-1]",
    hint="Two things in the soft loss: the factor T² is missing, and you divide by the number of "
    'classes too, as torch\'s kl_div does with "mean". Add up over the classes.',
)

QUESTION.mistake(
    "added up over the images",
    old="gap.mean()",
    new="gap.sum()",
    hint="You add up the soft loss over the images. Average over them.",
)

QUESTION.mistake(
    "teacher trained",
    old="teacher_logits.detach()",
    new="teacher_logits",
    hint="The numbers are right, but in the soft loss a gradient flows into the teacher. It would "
    "learn to say what the student says: detach its logits.",
)

QUESTION.mistake(
    "teacher trained, no T²",
    old=f"{TEACHER}  # (B, K)\n        {GAP}  # (B,)\n        {SOFT}",
    new="teacher = (teacher_logits / temperature).log_softmax(dim=-1)\n"
    f"        {GAP}\n        taught = gap.mean()",
    hint="Two things in the soft loss: the factor T² is missing, and a gradient flows into the "
    "teacher, whose logits are given: detach them.",
)

SOFTLY = (
    f"student = {STUDENT}  # (B, K)\n        teacher = {TEACHER}  # (B, K)\n"
    f"        {GAP}  # (B,)\n        {SOFT}"
)
PARTS = (
    f"p = (teacher_logits / temperature).softmax(dim=-1)\n        q = {STUDENT}\n        taught = "
)

QUESTION.mistake(
    "teacher trained, by kl_div",
    old=SOFTLY,
    new=PARTS + 'temperature**2 * F.kl_div(q, p, reduction="batchmean")',
    hint="In the soft loss a gradient flows into the teacher, which would learn to say what the "
    "student says. Detach its logits.",
)

QUESTION.mistake(
    "teacher trained, by kl_div, no T²",
    old=SOFTLY,
    new=PARTS + 'F.kl_div(q, p, reduction="batchmean")',
    hint="Two things in the soft loss: the factor T² is missing, and a gradient flows into the "
    "teacher, whose logits are given: detach them.",
)

QUESTION.mistake(
    "teacher trained, divided by the classes as well",
    old=SOFTLY,
    new=PARTS + 'temperature**2 * F.kl_div(q, p, reduction="batchmean") / p.shape[-1]',
    hint="Two things in the soft loss: a gradient flows into the teacher, so detach its logits; "
    'and kl_div divides by the number of classes too, unless it is told "batchmean".',
)

QUESTION.mistake(
    "teacher trained, divided by the classes as well, no T²",
    old=SOFTLY,
    new=PARTS + 'F.kl_div(q, p, reduction="batchmean") / p.shape[-1]',
    hint="Three things in the soft loss: the factor T² is missing; a gradient flows into the "
    "teacher, so detach its logits; and kl_div divides by the number of classes too, unless it is "
    'told "batchmean".',
)

QUESTION.mistake(
    "teacher trained, cross-entropy for KL",
    old=SOFTLY,
    new="p = (teacher_logits / temperature).softmax(dim=-1)\n"
    "        taught = temperature**2 * F.cross_entropy(distil_logits / temperature, p)",
    hint="Two things in the soft loss: a gradient flows into the teacher, so detach its logits; "
    "and it is a cross-entropy. The KL is smaller by the teacher's own entropy.",
)

QUESTION.mistake(
    "KL reversed, by kl_div",
    old=SOFTLY,
    new="p = (distil_logits / temperature).softmax(dim=-1)\n"
    f"        q = {TEACHER}\n"
    '        taught = temperature**2 * F.kl_div(q, p, reduction="batchmean")',
    hint="You give kl_div the teacher first, so your KL is that of the student from the teacher. "
    "It wants the logarithms of the student first: KL(teacher ‖ student).",
)

QUESTION.mistake(
    "KL reversed, by kl_div, teacher trained",
    old=SOFTLY,
    new="p = (distil_logits / temperature).softmax(dim=-1)\n"
    "        q = (teacher_logits / temperature).log_softmax(dim=-1)\n"
    '        taught = temperature**2 * F.kl_div(q, p, reduction="batchmean")',
    hint="Two things in the soft loss: you give kl_div the teacher first, where it wants the "
    "logarithms of the student: KL(teacher ‖ student); and a gradient flows into the teacher.",
)

QUESTION.mistake(
    "probabilities for logarithms, no T²",
    old=SOFTLY,
    new="p = (teacher_logits.detach() / temperature).softmax(dim=-1)\n"
    "        q = (distil_logits / temperature).softmax(dim=-1)\n"
    '        taught = F.kl_div(q, p, reduction="batchmean")',
    hint="Two things in the soft loss: the factor T² is missing; and kl_div wants the logarithms "
    "of the student first, then the probabilities of the teacher.",
)

QUESTION.mistake(
    "added up over the images, no T²",
    old="temperature**2 * gap.mean()",
    new="gap.sum()",
    hint="Two things in the soft loss: the factor T² is missing, and you add up over the images, "
    "where the mean is meant.",
)

QUESTION.mistake(
    "labels to both heads",
    old="teacher_logits.argmax(dim=-1)",
    new="labels",
    hint="Without a temperature both your heads learn the labels, and the teacher is not heard. "
    "The distillation head learns the class that the teacher decides for.",
)

QUESTION.mistake(
    "the teacher for both heads",
    old=START,
    new="truth = F.cross_entropy(class_logits, teacher_logits.argmax(dim=-1))",
    hint="Your class head learns what the teacher decides for. It learns the labels.",
)

QUESTION.mistake(
    "heads exchanged",
    old=START,
    new=f"class_logits, distil_logits = distil_logits, class_logits\n    {START}",
    hint="Your heads have changed places: the class head learns the labels, the distillation head "
    "learns from the teacher.",
)

QUESTION.mistake(
    "one head for both",
    old=START,
    new=f"distil_logits = class_logits\n    {START}",
    hint="Your class head learns from labels and teacher, and the distillation head has no "
    "gradient. Each head has a loss of its own.",
)

QUESTION.mistake(
    "the mean of both heads",
    old=START,
    new=f"class_logits = distil_logits = (class_logits + distil_logits) / 2\n    {START}",
    hint="You average the two heads first. That is done at test time; in training each has a loss "
    "of its own.",
)

QUESTION.mistake(
    "soft without being asked",
    old=f"taught = {HARD}",
    new="p = teacher_logits.detach().log_softmax(dim=-1)\n"
    "        taught = (p.exp() * (p - distil_logits.log_softmax(dim=-1))).sum(dim=-1).mean()",
    hint="Without a temperature you take the soft loss, at temperature 1. None stands for the hard "
    "one: a cross-entropy with the class that the teacher decides for.",
)

QUESTION.mistake(
    "the teacher's distribution for its decision",
    old=HARD,
    new="F.cross_entropy(distil_logits, teacher_logits.detach().softmax(dim=-1))",
    hint="Without a temperature you take a cross-entropy with the teacher's whole distribution. "
    "The hard loss knows only the class that the teacher decides for.",
)

QUESTION.mistake(
    "hard at every temperature",
    old="if temperature is None:",
    new="if True:",
    hint="Your loss is hard whatever the temperature. With a number for it, the distillation head "
    "learns the teacher's whole distribution.",
)

QUESTION.mistake(
    "the teacher only where it is right",
    old=HARD,
    new="(F.cross_entropy(distil_logits, labels, reduction='none')"
    " * (teacher_logits.argmax(-1) == labels)).mean()",
    hint="You leave out the images where the teacher errs. The distillation head learns what the "
    "teacher says, right or wrong.",
)

QUESTION.mistake(
    "decided over the batch",
    old="argmax(dim=-1)",
    new="argmax(dim=0)[torch.arange(len(labels)) % teacher_logits.shape[1]] "
    "% teacher_logits.shape[1]",
    hint="You look for the largest logit along the batch. The teacher decides for each image among "
    "its classes: the last axis.",
)

QUESTION.mistake(
    "no temperature for the teacher",
    old=TEACHER,
    new="teacher_logits.detach().log_softmax(dim=-1)",
    hint="You divide the student's logits by the temperature, and not the teacher's. Both are.",
)

QUESTION.mistake(
    "no temperature for the student",
    old=STUDENT,
    new="distil_logits.log_softmax(dim=-1)",
    hint="You divide the teacher's logits by the temperature, and not the student's. Both are.",
)

QUESTION.mistake(
    "no temperature within",
    old=f"student = {STUDENT}  # (B, K)\n        teacher = {TEACHER}",
    new="student = distil_logits.log_softmax(dim=-1)\n"
    "        teacher = teacher_logits.detach().log_softmax(dim=-1)",
    hint="Your logits are not divided by the temperature. Both are, before the softmax.",
)

QUESTION.mistake(
    "multiplied with the temperature",
    old=f"student = {STUDENT}  # (B, K)\n        teacher = {TEACHER}",
    new="student = (distil_logits * temperature).log_softmax(dim=-1)\n"
    "        teacher = (teacher_logits.detach() * temperature).log_softmax(dim=-1)",
    hint="You multiply the logits with the temperature. They are divided by it: what is warm is "
    "even.",
)

QUESTION.mistake(
    "the class head warmed as well",
    old=START,
    new="T = 1.0 if temperature is None else temperature\n"
    "    truth = F.cross_entropy(class_logits / T, labels)",
    hint="You divide the class head's logits by the temperature too. Only what is compared with "
    "the teacher is warmed.",
)

QUESTION.mistake(
    "the temperature behind the softmax",
    old=f"student = {STUDENT}  # (B, K)\n        teacher = {TEACHER}",
    new="student = distil_logits.log_softmax(dim=-1) / temperature\n"
    "        teacher = teacher_logits.detach().log_softmax(dim=-1) / temperature",
    hint="You divide behind the softmax, and what comes of it no longer sums to 1. Divide the "
    "logits.",
)

QUESTION.mistake(
    "weights exchanged",
    old=END,
    new="return weight * truth + (1 - weight) * taught",
    hint="Your weights are exchanged: the teacher has `weight`, the labels have the rest.",
)

QUESTION.mistake(
    "a plain sum",
    old=END,
    new="return truth + taught",
    hint="You add the two losses up as they are. The teacher's counts `weight`, the labels' "
    "1 − `weight`.",
)

QUESTION.mistake(
    "labels at full weight",
    old=END,
    new="return truth + weight * taught",
    hint="Your labels count fully, whatever the weight. They have what the teacher leaves: "
    "1 − `weight`.",
)

QUESTION.mistake(
    "half and half",
    old=END,
    new="return 0.5 * truth + 0.5 * taught",
    hint="Both losses count half, whatever `weight` says.",
)

QUESTION.mistake(
    "the soft loss of 0.1",
    old="weight=0.5):",
    new="weight=None):\n"
    "    weight = weight if weight is not None else 0.5 if temperature is None else 0.1",
    hint="Your weight is 0.1 for the soft loss, as in the paper's comparison. Here it is 0.5 "
    "unless told otherwise, hard or soft.",
)

QUESTION.mistake(
    "the paper's temperature",
    old="temperature=None",
    new="temperature=3.0",
    hint="Without a temperature your loss is soft. The default is None, the hard loss.",
)

QUESTION.mistake(
    "squared error",
    old=GAP,
    new="gap = (distil_logits - teacher_logits.detach()).square().mean(dim=-1)",
    hint="You compare logits by their squared distance. A KL of two distributions is asked for.",
)

QUESTION.mistake(
    "logarithms of rounded zeros",
    old=f"student = {STUDENT}  # (B, K)\n        teacher = {TEACHER}",
    new="student = (distil_logits / temperature).softmax(dim=-1).log()\n"
    "        teacher = (teacher_logits.detach() / temperature).softmax(dim=-1).log()",
    hint="You take the logarithm of a softmax, which is minus infinity where the softmax is "
    "rounded to 0. log_softmax does both at once.",
)

QUESTION.mistake(
    "softmax twice",
    old=START,
    new="class_logits = class_logits.softmax(dim=-1)\n    " + START,
    hint="You put the class logits through a softmax before cross_entropy, which has one of its "
    "own.",
)

QUESTION.mistake(
    "softmax twice, both heads",
    old=START,
    new="if temperature is None:\n"
    "        distil_logits = distil_logits.softmax(dim=-1)\n"
    "    class_logits = class_logits.softmax(dim=-1)\n"
    f"    {START}",
    hint="You put logits through a softmax before cross_entropy, which has one of its own.",
)

QUESTION.mistake(
    "no gradient for the distillation head",
    old=STUDENT,
    new="(distil_logits.detach() / temperature).log_softmax(dim=-1)",
    hint="The numbers are right, but the distillation head has no gradient in the soft loss. It "
    "is the one that should learn; detach the teacher.",
)

QUESTION.mistake(
    "no gradient at all",
    old=END,
    new=f"{END.replace('return ', 'loss = ')}\n    return loss.detach()",
    hint="No gradient flows by your loss: it goes lost where you detach, use numpy, .item() or "
    "torch.no_grad.",
)

QUESTION.mistake(
    "a plain number",
    old=END,
    new=f"{END.replace('return ', 'loss = ')}\n    return loss.item()",
    hint="You return a plain number, through which no gradient flows. Leave it a tensor.",
)

QUESTION.mistake(
    "two losses",
    old=END,
    new="return (1 - weight) * truth, weight * taught",
    hint="You return the two losses. Their sum is asked for.",
)

QUESTION.mistake(
    "in single precision",
    old=END,
    new=f"{END.replace('return ', 'loss = ')}\n    return loss.float()",
    hint="Your loss is float32, whatever the dtype of the logits.",
)

QUESTION.mistake(
    "warmed in place",
    old=f"student = {STUDENT}",
    new="teacher_logits.data.div_(temperature)\n"
    "        teacher_logits = teacher_logits * temperature\n"
    f"        student = {STUDENT}",
    hint="The numbers are right, but the teacher's logits are no longer what you were given: /= "
    "writes into them.",
)
