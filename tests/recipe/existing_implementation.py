"""An existing fast implementation that a translation is checked against as well: a candidate whose folder is named."""

import os

from overclock.recipe.judging.candidate import CandidateSubject


def subject(num_envs):
    return CandidateSubject(num_envs, os.environ["ALSO"])
