import { mostListBytes } from '../../lib/store/list-size.ts'

/**
 * The rows of a query in this order, up to the one with which their text exceeds the limit of a list, so that a
 * few huge rows cannot fill the memory. `columns` are the names of those wanted, `texts` of those with text.
 */
export function firstRows(rows: string, { columns, texts, order }: { columns: string; texts: readonly string[]; order: string }): string {
  const bytes = texts.map(text => `coalesce(octet_length(${text}), 0)`).join(' + ')
  return `SELECT ${columns} FROM (
      SELECT *, sum(${bytes}) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) - (${bytes}) AS bytes_before FROM (${rows}) AS found
    ) AS sized WHERE bytes_before <= ${mostListBytes} ORDER BY ${order}`
}
