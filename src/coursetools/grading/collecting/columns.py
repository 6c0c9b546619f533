"""What the columns of a class list may be called, in English, German, French and Spanish.

Moodle's plural (`Groups`, `Gruppen`) is not among them: there it holds all groups that somebody is
in, a tutorial's for instance, and not with whom they hand in.
"""

from __future__ import annotations

COLUMNS = {  # what a header may be called -> what it means
    "id": "id student_id studentid student sis_user_id sis_login_id login login_id username user "
    "id_number id_nummer matrikelnummer matrikel_nr numéro_d_identification numéro_d_étudiant "
    "numéro_étudiant número_de_id número_de_identificación número_de_matrícula matrícula",
    "name": "name student_name full_name fullname display_name vollständiger_name nom_complet "
    "nombre_completo",
    "first": "first_name firstname first given_name given vorname prénom nombre nombre_s",
    "last": "last_name lastname last surname family_name nachname familienname nom nom_de_famille "
    "apellido apellidos apellido_s",
    "email": "email email_address e_mail mail e_mail_adresse mailadresse courriel "
    "adresse_de_courriel adresse_e_mail adresse_mail correo correo_electrónico dirección_de_correo "
    "dirección_de_correo_electrónico dirección_email",
    "lms": "lms_user_id lms_id canvas_id moodle_id",
    "anonymous": "anonymous_id anon_id",
    "group": "group group_name team team_name gruppe groupe grupo",
}
MEANING = {word: meaning for meaning, words in COLUMNS.items() for word in words.split()}
