"""Sentences and labels in other languages than English."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ForeignLanguage:
    """Small talk and navigation labels of one language."""

    code: str
    sentences: tuple[str, ...]
    """``{0}`` and ``{1}`` take a noun phrase each."""
    phrases: tuple[str, ...]
    labels: dict[str, str]
    """English navigation label to its translation."""
    titles: tuple[str, ...]

    def label(self, english: str) -> str:
        """The translation of a navigation label; the English one where there is none."""
        return self.labels.get(english, english)


GERMAN = ForeignLanguage(
    code="de",
    sentences=(
        "Die Universität lädt am Donnerstag zu einem Vortrag über {0} ein.",
        "Im Wintersemester beschäftigen wir uns mit {0} und {1}.",
        "Für {0} stehen in diesem Jahr zusätzliche Mittel zur Verfügung.",
        "Die Öffnungszeiten der Bibliothek ändern sich ab Oktober.",
        "Studierende können sich bis Ende März für {0} anmelden.",
        "Ein Überblick über {0} findet sich auf den folgenden Seiten.",
        "Fragen beantwortet das Sekretariat im zweiten Stock.",
        "Gäste sind herzlich willkommen, der Eintritt ist frei.",
        "Der Ausschuss hat über {0} beraten und {1} beschlossen.",
        "Wegen Bauarbeiten ist der Eingang Süd für drei Wochen geschlossen.",
        "Unser Verein trifft sich jeden zweiten Dienstag im Gemeindehaus.",
        "Neue Mitglieder erhalten eine Einführung in {0}.",
        "Die Ausstellung zeigt {0} aus mehreren Jahrhunderten.",
        "Zwischen {0} und {1} besteht ein enger Zusammenhang.",
    ),
    phrases=(
        "Stadtentwicklung",
        "ältere Gebäude",
        "neue Lehrpläne",
        "Wasserwirtschaft",
        "Sprachkurse",
        "Rechtsfragen des Alltags",
        "Verkehrsplanung",
        "die Geschichte der Region",
        "Gesundheitsförderung",
        "Prüfungsordnungen",
        "Hörsäle und Übungsräume",
        "Fördermöglichkeiten",
    ),
    labels={
        "Home": "Startseite",
        "About": "Über uns",
        "Departments": "Fachbereiche",
        "Admissions": "Bewerbung",
        "Library": "Bibliothek",
        "News": "Aktuelles",
        "Events": "Veranstaltungen",
        "Contact": "Kontakt",
        "People": "Personen",
        "Research": "Forschung",
        "Courses": "Lehre",
        "Publications": "Veröffentlichungen",
        "Links": "Verweise",
        "Imprint": "Impressum",
    },
    titles=(
        "Neues aus der Verwaltung",
        "Hinweise für Erstsemester",
        "Vortragsreihe im Frühjahr",
        "Änderungen im Prüfungsamt",
        "Führung durch die Sammlung",
        "Rückblick auf den Tag der offenen Tür",
    ),
)

FRENCH = ForeignLanguage(
    code="fr",
    sentences=(
        "L'université organise jeudi une conférence sur {0}.",
        "Au second semestre, les cours portent sur {0} et {1}.",
        "Les étudiants peuvent s'inscrire jusqu'à la fin du mois de février.",
        "La bibliothèque sera fermée pendant les vacances d'été.",
        "Le conseil a débattu de {0} avant d'approuver {1}.",
        "Une présentation générale de {0} est disponible sur ce site.",
        "L'entrée est libre et gratuite dans la limite des places disponibles.",
        "Notre association se réunit le premier mardi de chaque mois à la mairie.",
        "Cette année, des crédits supplémentaires sont consacrés à {0}.",
        "Le secrétariat répond à toutes vos questions, du lundi au vendredi.",
        "L'exposition réunit des œuvres liées à {0}.",
        "Les bénévoles préparent déjà la fête de la rentrée.",
        "Entre {0} et {1}, le lien est plus étroit qu'on ne le pense.",
    ),
    phrases=(
        "l'aménagement du territoire",
        "la vie étudiante",
        "l'enseignement des langues",
        "le droit européen",
        "l'histoire régionale",
        "la santé publique",
        "les économies d'énergie",
        "la réforme des études",
        "le théâtre contemporain",
        "les transports urbains",
        "l'agriculture de montagne",
        "la mobilité étudiante",
    ),
    labels={
        "Home": "Accueil",
        "About": "Présentation",
        "Departments": "Facultés",
        "Admissions": "Inscriptions",
        "Library": "Bibliothèque",
        "News": "Actualités",
        "Events": "Agenda",
        "Contact": "Contact",
        "People": "Équipe",
        "Research": "Recherche",
        "Courses": "Enseignements",
        "Publications": "Publications",
        "Links": "Liens",
        "Imprint": "Mentions légales",
    },
    titles=(
        "Actualités de la faculté",
        "Guide de l'étudiant étranger",
        "Cycle de conférences du printemps",
        "Résultats des élections",
        "Visite des collections",
        "Bilan de la journée portes ouvertes",
    ),
)

SPANISH = ForeignLanguage(
    code="es",
    sentences=(
        "La asociación celebra su reunión anual el próximo sábado en el centro cívico.",
        "Este año hablaremos de {0} y también de {1}.",
        "La inscripción está abierta hasta el día quince.",
        "Los socios recibirán un boletín con noticias sobre {0}.",
        "El taller de {0} empieza a las seis de la tarde.",
        "Agradecemos a los vecinos su ayuda con {0}.",
        "Más información en la secretaría, de lunes a jueves.",
        "La excursión de otoño nos llevará a conocer {0}.",
    ),
    phrases=(
        "los caminos antiguos",
        "la cocina tradicional",
        "el patrimonio del barrio",
        "la música popular",
        "los huertos urbanos",
        "la fotografía de montaña",
        "las fiestas de verano",
        "la historia del puerto",
    ),
    labels={
        "Home": "Inicio",
        "About": "Quiénes somos",
        "News": "Noticias",
        "Events": "Actividades",
        "Contact": "Contacto",
        "Links": "Enlaces",
    },
    titles=(
        "Boletín de primavera",
        "Excursión de otoño",
        "Taller para niños",
        "Asamblea general",
        "Memoria del año",
        "Concurso de fotografía",
    ),
)

FOREIGN = {language.code: language for language in (GERMAN, FRENCH, SPANISH)}

JAPANESE_TITLE = "山麓市民協会のご案内"
JAPANESE_PARAGRAPHS = (
    "山麓市民協会は、地域の歴史と自然を学ぶ人々の集まりです。毎月第二土曜日に公民館で例会を開いています。",
    "春には桜の名所を訪ねる散策会、秋には古い街道を歩く会を行います。初めての方も歓迎します。",
    "会費は年額三千円です。会報は年に四回発行し、会員の皆様にお送りしています。",
    "図書室には郷土史に関する本が約千冊あり、会員は一度に三冊まで借りることができます。",
    "お問い合わせは事務局までお願いいたします。電話の受付は平日の午前十時から午後四時までです。",
)
JAPANESE_NEWS_TITLE = "協会からのお知らせ"
JAPANESE_NEWS = (
    "来月の例会では、旧市街の水路について講演があります。講師は市立博物館の学芸員です。",
    "会報の原稿を募集しています。締め切りは今月末です。写真も歓迎します。",
    "秋の散策会は雨天のため延期となりました。新しい日程は決まり次第お知らせします。",
)
