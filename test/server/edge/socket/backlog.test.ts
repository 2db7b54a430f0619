import t from 'tap'
import { Backlog } from '../../../../lib/server/edge/socket/backlog.ts'
import { LargeFrame } from '../../../../lib/server/hub/frames.ts'

function behind(backlog: Backlog, evicted: string[], name: string) {
  return {
    evict() {
      evicted.push(name)
      // As a connection does when it is cut off.
      backlog.note(this, 0)
    }
  }
}

t.test('above the total backlog limit the connections furthest behind are closed first, and only as many as needed [B2]', async t => {
  const evicted: string[] = []
  const backlog = new Backlog({ begin: () => () => {} }, 100)
  const [one, two, three] = ['one', 'two', 'three'].map(name => behind(backlog, evicted, name))
  if (!one || !two || !three) throw new Error('three there are')
  backlog.note(one, 50)
  backlog.note(two, 30)
  backlog.note(three, 20)
  t.same(evicted, [], 'just so much may wait')
  backlog.note(three, 21)
  t.same(evicted, ['one'])
  t.equal(backlog.bytes, 51)
  backlog.note(two, 200)
  t.same(evicted, ['one', 'two'], 'even when it is the one that is written to')
  t.equal(backlog.bytes, 21)
  backlog.note(three, 0)
  backlog.note(three, 0)
  t.equal(backlog.bytes, 0, 'what was read waits no more')
})

t.test('a frame for many connections counts once, until the last has it [B2]', async t => {
  const evicted: string[] = []
  const backlog = new Backlog({ begin: () => () => {} }, 100)
  const frame = new LargeFrame('x'.repeat(60))
  const all = ['one', 'two', 'three'].map(name => behind(backlog, evicted, name))
  for (const one of all) {
    backlog.hold(frame)
    backlog.note(one, 10, 60)
  }
  t.equal(backlog.bytes, 90)
  t.same(evicted, [])
  for (const one of all) {
    t.not(backlog.bytes, 0)
    backlog.release(frame)
    backlog.note(one, 0)
  }
  t.equal(backlog.bytes, 0)
})
