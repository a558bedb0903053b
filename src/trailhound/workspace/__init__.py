"""The workspace: where topics, the sessions they were learned from, and their models are kept.

``names`` turns topic names into folder names, ``topics`` is the workspace and its topic folders,
``model_folder`` writes and reads models, ``learning`` turns sessions into one.
"""

from trailhound.workspace.learned import LearnedTopic, Origin
from trailhound.workspace.learning import LearningRequest, learn_into
from trailhound.workspace.location import WORKSPACE_VARIABLE, workspace_folder
from trailhound.workspace.model_folder import load_model, save_model
from trailhound.workspace.topics import TopicFolder, Workspace

__all__ = [
    "WORKSPACE_VARIABLE",
    "LearnedTopic",
    "LearningRequest",
    "Origin",
    "TopicFolder",
    "Workspace",
    "learn_into",
    "load_model",
    "save_model",
    "workspace_folder",
]
