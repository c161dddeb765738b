use v5.36;
use utf8;
use DBI qw(:sql_types);
use DBD::SQLite::Constants qw(:dbd_sqlite_string_mode);

my $db = DBI->connect("dbi:SQLite::memory:", "", "", { RaiseError => 1, PrintError => 0,
    sqlite_allow_multiple_statements => 1, sqlite_string_mode => DBD_SQLITE_STRING_MODE_UNICODE_STRICT });
$db->sqlite_enable_load_extension(1);
$db->sqlite_load_extension("./bloom");

# A filter of the keys of a query, stored as a blob.
$db->do("CREATE TABLE items(code PRIMARY KEY);
         INSERT INTO items VALUES (42), (9007199254740993), ('Zürich');
         CREATE TABLE filters AS SELECT bloom_build(code) AS filter FROM items");
my $has = $db->prepare("SELECT bloom_contains(filter, ?) FROM filters");
my @keys = ([42, SQL_INTEGER], [42.0, SQL_DOUBLE], ["42", SQL_VARCHAR], ["42", SQL_BLOB],
    [9007199254740993, SQL_INTEGER], [9007199254740993.0, SQL_VARCHAR], ["Zürich", SQL_VARCHAR], ["Bonn", SQL_VARCHAR]);
say join " ", "keys:", map { $has->bind_param(1, @$_); $db->selectrow_array($has) } @keys;
my ($filter) = $db->selectrow_array("SELECT filter FROM filters");
my $asked = $db->prepare("SELECT bloom_contains(?, ?)");
$asked->bind_param(1, $filter, SQL_BLOB);
utf8::encode(my $bytes = "Zürich");
$asked->bind_param(2, $bytes, SQL_BLOB);
say join " ", "blob:", length($filter), $db->selectrow_array($asked);

# A filter that follows a table, in front of a join with it.
$db->do("CREATE VIRTUAL TABLE items_seen USING bloom(source=items, column=code)");
$db->do("INSERT INTO items VALUES (?)", undef, "Bonn");
$db->do("CREATE TABLE asked(code); INSERT INTO asked VALUES ('Bonn'), ('Rome')");
my $codes = $db->selectcol_arrayref("SELECT code FROM asked JOIN items_seen ON key = code CROSS JOIN items USING (code)");
say "join: $_" for @$codes;

eval { $db->selectrow_array("SELECT bloom_contains(NULL, 42)") };
say "error: ", $db->errstr;
