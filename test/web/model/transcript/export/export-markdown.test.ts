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
