//! Encrypted tables whose rows carry columns of others: changes of partners, and whose plans they
//! run.

use everlevel_tables::{Change, Data, Edit, EncryptedTable, Plan, Schema, TableKey, TablesError};

use crate::joins::{CUSTOMERS, ORDERS, data, partners, schema};
use crate::roles::{PARTIES, code, quiet, run};

fn encrypted() -> EncryptedTable {
    let key = TableKey::Secret(PARTIES.client.secret());
    let mut rng = everlevel::system_rng().unwrap();
    EncryptedTable::encrypt(key, &schema(), &data(), &mut rng, quiet).unwrap()
}

fn changed(
    table: &EncryptedTable,
    change: &Change,
) -> Result<(EncryptedTable, Vec<String>), TablesError> {
    let mut rng = everlevel::system_rng().unwrap();
    let (table, changes) = table.changed(PARTIES.client.secret(), change, &mut rng, quiet)?;
    Ok((table, changes.written))
}

#[test]
fn partners_are_changed_in_all_rows_that_carry_them() {
    let (schema, table) = (schema(), encrypted());
    let sql = "select number, priority from items join orders on bought_by = key \
                    where key = 7 order by number";
    let plan = Plan::new(sql, &schema).unwrap();
    let answer = |table: &EncryptedTable| {
        run(table, &plan).unwrap().read(PARTIES.client.secret()).unwrap().to_csv().unwrap()
    };
    assert_eq!(answer(&table), "number,priority\n1,high\n3,high\n6,high\n");
    let change =
        Change::parse("update orders set priority = 'low' where key = 7", &schema).unwrap();
    let (table, written) = changed(&table, &change).unwrap();
    // The children that were rewritten are named.
    assert_eq!(written, ["000000-0001.columns"]);
    assert_eq!(answer(&table), "number,priority\n1,low\n3,low\n6,low\n");
    // A new row carries what the others do.
    let insert = |rows: &str, orders: &str| {
        let partners = partners(&schema, orders, CUSTOMERS)?;
        let data = Data::from_csv_with(rows.as_bytes(), &schema, &partners)?;
        changed(&table, &Change::insert(&schema, data))
    };
    let row = "number,price,bought_by\n9,1.00,7\n";
    let error = insert(row, ORDERS).err().unwrap();
    assert_eq!(error.code(), "table.partner");
    assert!(error.to_string().contains("orders"), "{error}");
    let orders = ORDERS.replace("7,high", "7,low");
    let (longer, _) = insert(row, &orders).unwrap();
    assert_eq!(answer(&longer), "number,priority\n1,low\n3,low\n6,low\n9,low\n");
    assert!(insert("number,price,bought_by\n9,1.00,8\n", ORDERS).is_ok());
    // Rows go by what they carry.
    let change = Change::parse("delete from items where priority = 'low'", &schema).unwrap();
    assert_eq!(changed(&table, &change).unwrap().0.rows(), 1);
    for (text, expected, way) in [
        ("update items set priority = 'low'", "table.unsupported", "update orders"),
        ("update items set bought_by = 3", "table.unsupported", "insert it again"),
        ("update orders set customer = 20 where key = 7", "table.unsupported", "insert it again"),
        ("update orders set price = 1", "table.unsupported", "the table itself"),
        ("update orders set priority = 'low' where number = 1", "table.name", "priority"),
        ("update orders set country = 'CH'", "table.unsupported", "update customers"),
        ("delete from orders where key = 7", "table.unsupported", "bought_by"),
    ] {
        let error = Change::parse(text, &schema).expect_err(text);
        assert_eq!(error.code(), expected, "{text}: {error}");
        assert!(error.to_string().contains(way), "{text}: {error}");
    }
    let own = Change::parse("update items set price = 2 where country = 'CH'", &schema).unwrap();
    assert!(matches!(own.edit(), Edit::Update(..)));
}

#[test]
fn a_plan_for_rows_that_carry_less_is_refused() {
    let table = encrypted();
    let narrow = Schema::of(schema().fields().to_vec()).unwrap();
    let plan = Plan::new("select sum(price) from items", &narrow).unwrap();
    assert_eq!(code(run(&table, &plan)), "table.other-schema");
    let plan = Plan::new("select sum(price) from items", &schema()).unwrap();
    assert_eq!(Plan::from_json(&plan.to_json().unwrap()).unwrap(), plan);
}
