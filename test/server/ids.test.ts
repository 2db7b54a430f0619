import t from 'tap'
import { newId } from '../../lib/server/ids.ts'

t.test('ids are 24 letters and digits, and unique', async t => {
  const ids = Array.from({ length: 1_000 }, newId)
  for (const id of ids) t.match(id, /^[a-z2-7]{24}$/)
  t.equal(new Set(ids).size, ids.length)
})
