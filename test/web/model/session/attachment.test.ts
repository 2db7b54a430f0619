import t from 'tap'
import { sessionEvent } from '../../../../lib/protocol/sealed/messages.ts'
import * as v from '../../../../lib/schema.ts'
import { type Attached, attachedOf, fileEvent, isPicture } from '../../../../web/model/session/attachment.ts'

t.test('a file is announced with all that is known of it, and read like that', async t => {
  const plain: Attached = { ref: 'r', name: 'tree.png', size: 3 }
  for (const file of [plain, { ...plain, seal: 's', mimeType: 'image/png', image: { width: 3, height: 2 } }]) {
    const event = fileEvent(file)
    t.strictSame(event, { t: 'file', ...file })
    const read = v.parse(sessionEvent, event)
    t.strictSame(read.t === 'file' && attachedOf(read), file)
  }
  const drawn = { width: 3, height: 2, thumbhash: 'x' }
  t.strictSame(attachedOf({ t: 'file', ...plain, image: drawn }), { ...plain, image: { width: 3, height: 2 } })
})

t.test('only the usual pictures are shown', async t => {
  const types = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/svg+xml', 'text/html', undefined]
  t.same(
    types.map(mimeType => isPicture({ mimeType })),
    [true, true, true, true, false, false, false]
  )
})
