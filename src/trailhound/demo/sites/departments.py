"""What universities teach: departments, their names and their subjects."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DepartmentKind:
    """A department as it exists, under different names, at several universities."""

    path: str
    names: tuple[str, ...]
    foreign_names: dict[str, str]
    subjects: tuple[str, str, str, str]
    """People take these in turn."""


DEPARTMENT_KINDS = (
    DepartmentKind(
        "biology",
        ("Department of Biology", "School of Life Sciences", "Institute of Ecology"),
        {"de": "Institut für Biologie", "fr": "Faculté de biologie"},
        ("bee-health", "bird-migration", "botany", "genetics"),
    ),
    DepartmentKind(
        "earth",
        ("Department of Earth Sciences", "School of Geography", "Institute of Geosciences"),
        {"de": "Institut für Geowissenschaften", "fr": "Faculté de géographie"},
        ("glacier-hydrology", "geology", "meteorology", "statistics"),
    ),
    DepartmentKind(
        "engineering",
        ("Department of Engineering", "School of Mechanical Engineering", "Faculty of Technology"),
        {"de": "Fakultät für Maschinenbau", "fr": "École d'ingénieurs"},
        ("tidal-energy", "railways", "electric-cars", "acoustics"),
    ),
    DepartmentKind(
        "economics",
        ("School of Economics and Law", "Faculty of Social Sciences", "Department of Economics"),
        {"de": "Fachbereich Wirtschaft und Recht", "fr": "Faculté de droit et d'économie"},
        ("economics", "law", "statistics", "architecture"),
    ),
    DepartmentKind(
        "history",
        ("Department of History", "School of Humanities", "Institute of Medieval Studies"),
        {"de": "Historisches Seminar", "fr": "Faculté d'histoire"},
        ("manuscripts", "archaeology", "linguistics", "architecture"),
    ),
    DepartmentKind(
        "chemistry",
        ("Department of Chemistry", "School of Materials", "Institute of Applied Chemistry"),
        {"de": "Institut für Chemie", "fr": "Faculté de chimie"},
        ("batteries", "pharmacy", "genetics", "statistics"),
    ),
    DepartmentKind(
        "computing",
        ("Department of Computing", "School of Informatics", "Institute of Mathematics"),
        {"de": "Institut für Informatik", "fr": "Faculté d'informatique"},
        ("software", "statistics", "astronomy", "acoustics"),
    ),
    DepartmentKind(
        "music",
        ("Department of Music", "School of Arts", "Conservatory"),
        {"de": "Institut für Musik", "fr": "Faculté des arts"},
        ("violin-making", "theatre", "photography", "acoustics"),
    ),
    DepartmentKind(
        "food",
        ("Department of Food Science", "School of Agriculture and Food", "Institute of Nutrition"),
        {"de": "Institut für Ernährung", "fr": "Faculté d'agronomie"},
        ("sourdough", "nutrition", "botany", "pharmacy"),
    ),
)


def departments_of(university: int, count: int) -> list[DepartmentKind]:
    """The departments of one university: a window that moves on from one to the next."""
    n_kinds = len(DEPARTMENT_KINDS)
    return [
        DEPARTMENT_KINDS[(university * count + k) % n_kinds] for k in range(min(count, n_kinds))
    ]
