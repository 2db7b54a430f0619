import t from 'tap'
import { readRow } from '../../../../../lib/wrapper/agents/claude/transcript/rows.ts'

const said: [text: string, row: { type: string; text?: string } | undefined][] = [
  ['<command-name>/compact</command-name>', { type: 'command', text: '/compact' }],
  [
    '<command-message>mine</command-message>\n<command-name>/mine</command-name>\n<command-args>this\nand that</command-args>',
    { type: 'command', text: '/mine this\nand that' }
  ],
  ['\n  <command-name>mine</command-name>', { type: 'command', text: '/mine' }],
  ['<command-message>mine</command-message>', undefined],
  ['<local-command-stdout>Compacted</local-command-stdout>', undefined],
  ['Why <command-name>/mine</command-name>?', { type: 'block' }]
]

t.test('a command is read as it was typed; what a person only writes about one is their text', async t => {
  for (const [content, row] of said) {
    const rows = readRow(JSON.stringify({ type: 'user', uuid: 'u1', message: { content } }), 0)
    t.equal(rows.length, row ? 1 : 0, content)
    if (row) t.match(rows[0], { ...row, uuid: 'u1', index: 0 }, content)
  }
})
