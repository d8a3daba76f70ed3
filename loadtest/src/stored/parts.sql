SELECT
    table,
    toString(sum(rows)) AS rows,
    toString(sum(bytes_on_disk)) AS bytes
FROM system.parts
WHERE active AND database = 'sluice'
GROUP BY table
ORDER BY table
FORMAT JSONEachRow
