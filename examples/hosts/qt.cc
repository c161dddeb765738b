// A Qt program needs no change: LD_PRELOAD=./libbloom_auto.so ./qt
#include <QCoreApplication>
#include <QSqlDatabase>
#include <QSqlError>
#include <QSqlQuery>
#include <QTextStream>
#include <QVariant>

int main(int argc, char** argv) {
  QCoreApplication program(argc, argv);
  QSqlDatabase db = QSqlDatabase::addDatabase("QSQLITE");
  db.setDatabaseName(":memory:");
  db.open();
  QSqlQuery query;
  QTextStream out(stdout);
  for (const char* sql : {"CREATE TABLE items(code)",
                          "CREATE VIRTUAL TABLE items_seen USING bloom(source=items, column=code)",
                          "INSERT INTO items VALUES ('Bonn')"}) {
    if (!query.exec(sql)) {
      out << query.lastError().text() << "\n";
    }
  }
  query.prepare("SELECT count(*) FROM items_seen WHERE key = ?");
  for (const char* key : {"Bonn", "Rome"}) {
    query.bindValue(0, key);
    query.exec();
    query.next();
    out << key << " " << query.value(0).toInt() << "\n";
  }
}
