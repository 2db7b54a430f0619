import t from 'tap'
import type { SessionView } from '../../../../../web/model/store.ts'
import { markdownOf } from '../../../../../web/model/transcript/export/export-markdown.ts'
import type { Item } from '../../../../../web/model/transcript/items.ts'

const at = Date.UTC(2026, 4, 14, 14, 2)

t.test('a session is exported as readable Markdown, and no content can break out of its block', async t => {
  // Only the parts of a session that an export reads.
  const session = {
    id: 's1',
    createdAt: at,
    metadata: { path: '/home/apples', host: 'studio', summary: { text: 'Bring apples' } }
  } as unknown as SessionView
  const place = { seq: 1, at }
  const items = [
    { ...place, type: 'mine', key: 'a', localId: null, text: 'Bring apples', from: 'app', files: [], isSteer: false, isWithdrawn: false },
    { ...place, type: 'thinking', key: 'b', text: 'Where are they?\nIn the garden.', tookMs: 5 },
    {
      ...place,
      type: 'plan',
      key: 'c',
      entries: [
        { content: 'Pick', status: 'completed' },
        { content: 'Carry <img src=//evil.example>\n![x](//evil.example)', status: 'pending' }
      ]
    },
    {
      ...place,
      type: 'step',
      key: 'd',
      call: 'd',
      kind: 'execute',
      name: 'Bash',
      title: 'ls',
      description: '',
      args: {},
      locations: [],
      content: [{ type: 'text', text: 'before\n```\nafter' }],
      state: 'ok',
      endedAt: at
    },
    { ...place, type: 'prose', key: 'e', text: 'They are **in**.' }
  ] as const satisfies Item[]
  t.equal(
    markdownOf(session, items),
    `# Bring apples

- Agent: Claude Code
- Machine: studio
- Folder: /home/apples
- Begun: 2026-05-14T14:02:00.000Z

## You, 2026-05-14 14:02

Bring apples

> Where are they?
> In the garden.

- [x] Pick
- [ ] Carry \\<img src=//evil.example\\> \\!\\[x\\](//evil.example)

- **ls** (ok, 2026-05-14 14:02)

\`\`\`\`
before
\`\`\`
after
\`\`\`\`

They are **in**.
`
  )
})

// Only the parts of a session that an export reads.
const untitled = { id: 's1', createdAt: at, metadata: undefined } as unknown as SessionView
const exported = (...items: object[]) =>
  markdownOf(
    untitled,
    items.map(item => ({ seq: 1, at, key: 'k', ...item }) as Item)
  )
    .split('\n\n')
    .slice(2)
    .join('|')
    .trimEnd()

t.test('a session that cannot be read is named by its id, and says only when it began', async t => {
  t.equal(markdownOf(untitled, []), '# s1\n\n- Begun: 2026-05-14T14:02:00.000Z\n')
})

t.test('every kind of event is exported in words', async t => {
  const file = { ref: 'r', name: 'a_b.png', size: 5 }
  const rows: [object, string][] = [
    [{ type: 'mine', text: 'Look', files: [file], isWithdrawn: false }, '## You, 2026-05-14 14:02|File: a\\_b.png, 5 bytes|Look'],
    [{ type: 'mine', text: 'Not this', files: [], isWithdrawn: true }, ''],
    [{ type: 'prose', text: 'I will', isCut: true }, 'I will|*Cut off here*'],
    [{ type: 'prose', text: '<b>' }, '&lt;b>'],
    [{ type: 'thinking', text: '<b>' }, '> &lt;b>'],
    [{ type: 'file', file }, 'File: a\\_b.png, 5 bytes'],
    [{ type: 'note', text: 'Newer <b>' }, 'Newer &lt;b>'],
    [{ type: 'turn-ended', status: 'failed' }, '*Turn failed*'],
    [{ type: 'limit', endsAt: 1 }, '*Usage limit reached*'],
    [{ type: 'control', to: 'terminal' }, '*Continued in the terminal*'],
    [{ type: 'control', to: 'app' }, '*Continued in the app*'],
    [{ type: 'fault', fault: 'missing', count: 2 }, '*Wrong on the way: missing (2)*'],
    [{ type: 'skipped', why: 'unreadable', count: 3 }, '*3 could not be opened*'],
    [{ type: 'of a later version' }, '']
  ]
  for (const [item, text] of rows) t.equal(exported(item), text, JSON.stringify(item))
})

t.test('a step is exported with its name, its changes and its output, and marks in them mean nothing', async t => {
  const step = { type: 'step', title: '', name: 'Edit*', state: 'failed' }
  const content = [
    { type: 'diff', path: 'a_b.ts', oldText: 'old', newText: 'new' },
    { type: 'text', text: 'Done' },
    { type: 'of a later version' }
  ]
  t.equal(exported({ ...step, content }), '- **Edit\\*** (failed, 2026-05-14 14:02)|a\\_b.ts|```\nnew\n```|```\nDone\n```')
  t.match(exported({ ...step, title: 'x [y](z) | & ~ ! # `\\\n<', content: [] }), '- **x \\[y\\](z) \\| \\& \\~ \\! \\# \\`\\\\ \\<**')
  const fenceOf = (text: string) => exported({ ...step, content: [{ type: 'text', text }] }).split('|')[1]
  t.equal(fenceOf('``'), '```\n``\n```')
  t.equal(fenceOf('a ```` b ``'), '`````\na ```` b ``\n`````')
})
