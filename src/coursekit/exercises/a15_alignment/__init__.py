"""Assignment 15, to the page "Retrieval and alignment": an answer summed over documents, a reward
and a policy learned from pairs, the leash that holds a policy back, and ratings from votes.
"""

from __future__ import annotations

from coursekit.exercises.a15_alignment import (
    kl_of_sample,
    marginal_loss,
    pair_reward_loss,
    prefer,
    ratings,
)
from coursekit.exercises.question import Assignment, Written

ASSIGNMENT = Assignment(
    name="a15_alignment",
    title="Retrieval and alignment",
    questions=(
        marginal_loss.QUESTION,
        pair_reward_loss.QUESTION,
        prefer.QUESTION,
        kl_of_sample.QUESTION,
        ratings.QUESTION,
    ),
    written=(
        Written(
            name="the_reward_went_up",
            title="The reward went up",
            points=3,
            minutes=20,
            page="alignment.html#sec-alignment-kl",
        ),
    ),
)
