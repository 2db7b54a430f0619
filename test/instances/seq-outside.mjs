// A negative control of the histories of several instances, loaded into each with --import: the numbers of messages are taken
// in a transaction of its own, and the messages follow some time later. A reader sees a higher number before a lower one.
import { changeSource } from './change-source.mjs'

changeSource('postgres/rows/appends.ts', text => {
  const insert = / {2}tx\.send\(\n {4}`INSERT INTO message[\s\S]*?\n {2}\)\n/.exec(text)?.[0]
  if (insert === undefined || !text.endsWith('}\n')) return text
  const between = ['COMMIT', 'BEGIN', 'SELECT pg_sleep(random() * 0.03)'].map(sql => `  tx.send('${sql}', [])\n`).join('')
  return `${text.replace(insert, () => '').slice(0, -2)}${between}${insert}}\n`
})
