//! Parses SQL queries into syntax trees, formats them and drops them.

use sqlparser::{dialect::GenericDialect, parser::Parser};

/// How many statements there are, and how long they are when written out.
#[inline(never)]
pub(super) fn once() -> u64 {
    let statements = Parser::parse_sql(&GenericDialect {}, QUERIES).expect("it is SQL");
    let written: usize = statements.iter().map(|statement| statement.to_string().len()).sum();
    assert_eq!(statements.len(), 8);
    (statements.len() as u64) << 32 | written as u64
}

const QUERIES: &str = "
SELECT flag, status, SUM(quantity) AS sum_quantity, SUM(price * (1 - discount)) AS sum_price,
    AVG(quantity) AS mean_quantity, COUNT(*) AS orders
FROM lines WHERE shipped <= DATE '1998-12-01' - INTERVAL '90' DAY
GROUP BY flag, status ORDER BY flag, status;

SELECT s.balance, s.name, n.name, p.part, p.maker, s.address, s.phone
FROM parts p, suppliers s, offers o, nations n, regions r
WHERE p.part = o.part AND s.supplier = o.supplier AND p.size = 15 AND p.kind LIKE '%BRASS'
    AND s.nation = n.nation AND n.region = r.region AND r.name = 'EUROPE'
    AND o.cost = (SELECT MIN(cost) FROM offers, suppliers WHERE offers.supplier = suppliers.supplier)
ORDER BY s.balance DESC, n.name, s.name, p.part LIMIT 100;

WITH monthly AS (
    SELECT customer, DATE_TRUNC('month', ordered) AS month, SUM(total) AS total
    FROM orders GROUP BY customer, DATE_TRUNC('month', ordered)
), ranked AS (
    SELECT customer, month, total, RANK() OVER (PARTITION BY month ORDER BY total DESC) AS place FROM monthly
)
SELECT month, customer, total FROM ranked WHERE place <= 10 ORDER BY month, place;

SELECT CASE WHEN type LIKE 'PROMO%' THEN price * (1 - discount) ELSE 0 END AS promo, COALESCE(note, 'none')
FROM lines LEFT JOIN parts ON lines.part = parts.part
WHERE lines.shipped BETWEEN '1995-09-01' AND '1995-10-01' AND parts.size IN (1, 4, 9, 16, 25, 36, 49);

INSERT INTO orders (id, customer, total, note) VALUES (1, 'a', 12.5, NULL), (2, 'b', 7.25, 'x'), (3, 'c', 0, 'y');

UPDATE customers SET balance = balance - 10, changed = NOW() WHERE id = 42 AND NOT locked;

CREATE TABLE events (id BIGINT PRIMARY KEY, kind VARCHAR(40) NOT NULL, at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    amount DECIMAL(12, 2), CONSTRAINT positive CHECK (amount >= 0), FOREIGN KEY (kind) REFERENCES kinds (name));

SELECT DISTINCT a.id FROM accounts a INNER JOIN events e ON e.account = a.id AND e.kind <> 'void'
WHERE EXISTS (SELECT 1 FROM flags f WHERE f.account = a.id) OR (a.score > 10 AND a.score * 2 < 100)
UNION ALL SELECT id FROM archived WHERE year(closed) = 2020";
