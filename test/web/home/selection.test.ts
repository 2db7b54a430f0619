import t from 'tap'
import { selected, selectThese, stopSelecting, toggle } from '../../../web/home/selection.ts'

const ids = () => selected.value && [...selected.value]

t.test('sessions are selected one by one or together, until the person is done', async t => {
  t.equal(ids(), undefined)
  toggle('s1')
  toggle('s2')
  t.same(ids(), ['s1', 's2'])
  toggle('s1')
  toggle('s2')
  t.same(ids(), [], 'without any, more can still be selected')
  selectThese(['s3', 's4', 's3'])
  t.same(ids(), ['s3', 's4'])
  const before = selected.value
  toggle('s3')
  t.same([...(before ?? [])], ['s3', 's4'], 'a list on screen does not change under it')
  t.same(ids(), ['s4'])
  stopSelecting()
  t.equal(ids(), undefined)
})
