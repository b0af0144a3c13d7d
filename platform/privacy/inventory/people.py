"""Tables of accounts, profiles, consent and sign-in."""

from studies.personal_data import Erasing, PersonalTable, nothing

PEOPLE = (
    PersonalTable(
        "accounts.User",
        Erasing.DELETE,
        about="password last_login username email date_joined display_name",
        other="is_superuser is_staff is_active is_lead is_analyst groups user_permissions",
        person="annotator",
        hidden="password",
    ),
    PersonalTable(
        "accounts.User_groups", Erasing.DELETE, about="user", other="group", person="user__annotator"
    ),
    PersonalTable(
        "accounts.User_user_permissions",
        Erasing.DELETE,
        about="user",
        other="permission",
        person="user__annotator",
    ),
    PersonalTable(
        "accounts.Annotator",
        Erasing.WITH_ANSWERS,
        about="user pseudonym source source_id created_at",
        other="origin",
        person="pk",
        hidden="source source_id",  # set for imported and simulated annotators; the source is a study
    ),
    PersonalTable(
        "accounts.AnnotatorProfile",
        Erasing.DELETE,
        about="annotator gender region_of_origin nationality country_of_residence age_band languages words "
        "updated_at",
        person="annotator",
    ),
    PersonalTable(
        "accounts.MatchedWords",
        Erasing.DELETE,
        about="words",
        other="field code decided_by decided_at",
        reason="Only words that nobody else has typed are deleted.",
    ),
    PersonalTable(
        "accounts.Consent",
        Erasing.WITH_ANSWERS,
        about="annotator text translation given_at withdrawn_at",
        person="annotator",
        reason="Consents are kept with answers, to show that the answers were given with consent.",
    ),
    PersonalTable(
        "accounts.ApiToken",
        Erasing.DELETE,
        about="user name prefix created_at expires_at last_used_at revoked_at",
        other="key_hash scopes",
        person="user__annotator",
        hidden="key_hash",
    ),
    nothing(
        "accounts.ConsentText",
        "series version language body content_notice support labels_when_erased may_erase_self translates "
        "created_at",
    ),
    PersonalTable(
        "sessions.Session",
        Erasing.DELETE,
        about="session_key session_data expire_date",
        reason="The rows are found by the account that the session names.",
    ),
    PersonalTable(
        "axes.AccessAttempt",
        Erasing.DELETE,
        about="user_agent ip_address username http_accept path_info attempt_time get_data post_data "
        "failures_since_start",
        reason="The rows are found by the user name that was typed.",
    ),
    PersonalTable(
        "axes.AccessAttemptExpiration",
        Erasing.DELETE,
        about="expires_at access_attempt",
        reason="The rows are deleted with the access attempt.",
    ),
    PersonalTable(
        "axes.AccessFailureLog",
        Erasing.DELETE,
        about="user_agent ip_address username http_accept path_info attempt_time locked_out",
        reason="The rows are found by the user name that was typed.",
    ),
    PersonalTable(
        "axes.AccessLog",
        Erasing.DELETE,
        about="user_agent ip_address username http_accept path_info attempt_time logout_time session_hash",
        reason="The rows are found by the user name that was typed.",
    ),
    PersonalTable(
        "account.EmailAddress", Erasing.DELETE, about="user email verified primary", person="user__annotator"
    ),
    PersonalTable(
        "account.EmailConfirmation",
        Erasing.DELETE,
        about="email_address created sent key",
        person="email_address__user__annotator",
        hidden="key",
    ),
    PersonalTable(
        "mfa.Authenticator",
        Erasing.DELETE,
        about="user type data created_at last_used_at",
        person="user__annotator",
        hidden="data",
    ),
    PersonalTable(
        "socialaccount.SocialAccount",
        Erasing.DELETE,
        about="user provider uid last_login date_joined extra_data",
        person="user__annotator",
        reason="The row contains the person’s id at the identity provider; nothing is ever written to `extra_data`.",
    ),
    PersonalTable(
        "socialaccount.SocialToken",
        Erasing.DELETE,
        about="app account token token_secret expires_at",
        person="account__user__annotator",
        hidden="app account token token_secret expires_at",
        reason="The table is always empty, because tokens of identity providers are not kept.",
    ),
    PersonalTable(
        "accounts.UsedAssertion",
        Erasing.KEEP,
        about="statement_sealed",
        other="digest ticket_hash accepted_at",
        reason="The row contains the data that a SAML provider sent about somebody, encrypted, until the person's "
        "browser returns: usually a few seconds, at most five minutes. The row is deleted after an hour.",
    ),
    PersonalTable(
        "usersessions.UserSession",
        Erasing.DELETE,
        about="user created_at ip last_seen_at session_key user_agent data",
        person="user__annotator",
        hidden="session_key data",
    ),
    PersonalTable(
        "admin.LogEntry",
        Erasing.REDACT,
        mentions="object_repr change_message",
        other="action_time user content_type object_id action_flag",
    ),
    nothing("socialaccount.SocialApp", "provider provider_id name client_id secret key settings"),
    nothing("auth.Permission", "name content_type codename"),
    nothing("auth.Group", "name permissions"),
    nothing("auth.Group_permissions", "group permission"),
    nothing("contenttypes.ContentType", "app_label model"),
    PersonalTable(
        "privacy.Erasure",
        Erasing.KEEP,
        about="code_hash erased_at",
        reason="The row is written when somebody is erased. The row contains a keyed hash of a random code, by "
        "which the person can be found in a restored backup.",
    ),
    nothing("privacy.RetentionRun", "day applied_at removed"),
)
