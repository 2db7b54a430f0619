/** A list ends early past this much text, so that a few huge rows cannot fill the memory. */
export const mostListBytes = 16 * 1024 * 1024

/** The first rows, up to the one whose text exceeds the limit of a list. */
export function within<Row extends object>(rows: Iterable<Row>): Row[] {
  const taken: Row[] = []
  let bytes = 0
  // Leaving the loop closes the iterator, and with it the statement.
  for (const row of rows) {
    taken.push(row)
    bytes += textIn(row)
    if (bytes > mostListBytes) break
  }
  return taken
}

function textIn(row: object): number {
  let length = 0
  for (const value of Object.values(row)) if (typeof value === 'string') length += value.length
  return length
}
