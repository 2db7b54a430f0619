import type { SessionModel } from '../../../web/model/session/session.ts'
import { folder, tell } from './fixtures.ts'
import { drawnPicture, model, picture } from './session-model.ts'
import { allowed, edited, plan, work } from './transcripts.ts'

const testOutput =
  '\u001b[32m✓\u001b[39m callback keeps a same-origin path\n\u001b[32m✓\u001b[39m callback rejects //evil.example\n\u001b[32m✓\u001b[39m callback falls back to /home\n\u001b[2m  session › logout …\u001b[22m'

const markdown = `## What was wrong

The state cookie *does* carry \`returnTo\`, **but** the callback never reads it. See [the RFC](https://datatracker.ietf.org/doc/html/rfc6749#section-10.15) and https://example.org/sso.

1. \`handleCallback\` redirects to \`/home\` always
2. the cookie is thrown away after
   - on success
   - on failure too
3. nobody tested it

- [x] read the cookie
- [ ] write the note, which is so long that it goes on in a second line on a phone

It also takes \`invoice\u202efdp.exe\` for a picture.

> Only paths on our own origin, or an attacker sends people anywhere.

\`\`\`ts
// Only a path on our own origin.
export function safeReturnPath(p?: string): string | null {
  if (!p?.startsWith('/')) return null;
  if (p.startsWith('//')) return null;
  const u = new URL(p, 'https://a-very-long-origin-name.orchard.example/with/a/long/path');
  return u.origin === ORIGIN ? p : null;
}
\`\`\`

| Path | Before | After | Why |
|:--|--:|:-:|---|
| \`/settings\` | /home | /settings | own origin |
| \`//evil.example\` | /home | /home | protocol-relative, another origin altogether |
| \`/a/very/long/path\` | 120 | 2400 | long |

### HTML is text

<script>alert(1)</script> and <b>this</b> &amp; that. ![chart](https://img.example/x.png)

---

[looks safe](javascript:alert(1)) and [https://good.example](https://evil.example/)`

/** The transcript of a session, as messages are added to it. */
export const conversations: Record<string, () => SessionModel> = {
  session: () =>
    model({
      transcript: plan(edited())
        .wait(450)
        .step({ kind: 'execute', args: { command: 'npm test -- auth' }, content: [{ type: 'text', text: testOutput }] })
        .say('', { input_tokens: 76_000, output_tokens: 0, context_window: 200_000 })
        .done(),
      answered: [allowed],
      isWorking: true
    }),
  streaming: () => {
    const told = work().done()
    return model({
      transcript: {
        ...told,
        partials: [
          {
            turn: 't',
            block: 'b',
            text: 'The callback has two exits. The first one is **fine**: it reads the cookie, checks the origin and **goes',
            thinking: false,
            at: Date.now()
          }
        ]
      },
      isWorking: true
    })
  },
  read: () => model({ facts: { deliveredSeq: 99, readSeq: 99 }, transcript: edited().end().done() }),
  thinking: () => {
    const told = work().mine('And look at logout, too.').done()
    return model({
      transcript: {
        ...told,
        partials: [
          {
            turn: 't',
            block: 'b',
            text: 'Let me see how the state is read.\nThe cookie seems to be parsed twice, which is odd',
            thinking: true,
            at: Date.now()
          }
        ]
      },
      isWorking: true,
      draft: 'Also the tablet\nand a second line\nand a third'
    })
  },
  markdown: () =>
    model({
      transcript: tell()
        .mine('What was wrong?')
        .turn()
        .say(markdown)
        .end('completed', { input_tokens: 41_000, output_tokens: 1, context_window: 200_000 })
        .done()
    }),
  'lying-server': () =>
    model({
      facts: { title: 'A server that lies' },
      transcript: tell()
        .mineAs(1, 'Find out why SSO lands on /home.')
        .turn()
        .say('The state cookie carries `returnTo`, but the callback never reads it.')
        .end()
        .mineAs(4, 'And fix it.')
        .mineAs(2, 'But ask me first.')
        .mineAs(4, 'And fix it.')
        .fault('message-repeated')
        .fault('message-late')
        .fault('message-missing')
        .fault('call-astray')
        .turn()
        .say('Shall I use it, for paths on our own origin only?')
        .end()
        .done()
    }),
  steps: () =>
    model({
      facts: { title: 'Steps in the trail' },
      transcript: tell()
        .mine('Show me all kinds.')
        .turn()
        .think('The user wants every kind of step. I should read first.\n\nThen act.')
        .wait(12)
        .think('Now **act**.')
        .step({ kind: 'read', name: 'Read', args: {}, locations: [`${folder}/src/auth/session.ts`] }, 1, {
          status: 'completed',
          content: [{ type: 'text', text: '   118→export function open(cookie: Cookie) {\n   119→  return cookie.state\n   120→}' }]
        })
        .step({ kind: 'search', args: { pattern: 'returnTo' } }, 2)
        .step({ kind: 'fetch', args: { url: 'https://datatracker.ietf.org/doc/html/rfc6749' } }, 4, {
          status: 'completed',
          content: [{ type: 'text', text: 'HTTP 200, 48213 bytes\n\nThe state is an opaque value.' }]
        })
        .plan(['Find it', 'completed'], ['Fix it', 'in_progress'], ['Tell', 'pending'])
        .step(
          {
            kind: 'edit',
            name: 'Write',
            args: { file_path: `${folder}/src/auth/return-path.ts` },
            content: [
              {
                type: 'diff',
                path: `${folder}/src/auth/return-path.ts`,
                oldText: null,
                newText:
                  "/** Only a path on our own origin. */\nexport function safeReturnPath(p?: string) {\n  if (!p?.startsWith('/')) return null;\n  return p;\n}\n"
              }
            ]
          },
          1
        )
        .step({ kind: 'execute', args: { command: 'npm test' } }, 12, {
          status: 'failed',
          content: [
            {
              type: 'text',
              text: '\u001b[31m✗\u001b[39m upload › retries once\n\u001b[2m  expected 2 calls, got 3\u001b[22m\n\nexit code: 1'
            }
          ]
        })
        .step({ kind: 'execute', args: { command: 'npm run build -- --mode production --sourcemap' } }, 31, {
          status: 'completed',
          content: [{ type: 'text', text: Array.from({ length: 3005 }, (_, i) => `bundle ${i + 1} written`).join('\n') }]
        })
        .step({ call: 'den1', kind: 'execute', args: { command: 'rm -rf dist' } }, 4, {
          status: 'denied',
          content: [{ type: 'text', text: 'The user said no, on their phone: Use npm run clean, dist is a symlink.' }]
        })
        .step({ kind: 'execute', args: { command: 'npm run watch' } }, 40, { status: 'cancelled' })
        .step({ kind: 'other', name: 'mcp__linear__create_issue', args: { title: 'Return to the page', issueType: 'bug' } }, 2)
        .step({ kind: 'delete', args: {}, locations: [`${folder}/src/old.ts`] }, 1)
        .end('failed')
        .closed(2)
        .old({ type: 'event', data: { type: 'limit-reached', endsAt: Math.floor(Date.now() / 1000) + 7200 } })
        .mine('line\n'.repeat(20), 'web')
        .mine('from the terminal', 'cli')
        .done(),
      answered: [{ ...allowed, call: 'den1', outcome: 'denied', reason: 'Use npm run clean, dist is a symlink.' }],
      waiting: [
        { localId: 'w1', text: 'And this one waits.', at: Date.now(), state: 'failed' },
        { localId: 'w2', text: 'This one too.', at: Date.now(), state: 'device' }
      ]
    }),
  many: () => {
    const story = tell()
    for (let i = 0; i < 1250; i++) {
      story
        .mine(`Question ${i}`)
        .turn()
        .say(`Answer **${i}**: it is in \`src/file-${i}.ts\`, and the test says so.`)
        .step({ kind: 'read', args: {}, locations: [`${folder}/src/file-${i}.ts`] }, 1)
        .step({ kind: 'execute', args: { command: `npm test -- ${i}` } }, 2)
        .end()
    }
    return model({ transcript: story.done(), older: 'more' })
  },
  pictures: () =>
    model({
      facts: { deliveredSeq: 2, readSeq: 2 },
      transcript: tell()
        .attach(picture)
        .attach({ ref: 'f', name: 'trace.har', size: 64_000 })
        .mine('What is wrong here?')
        .withdrawn('Never mind')
        .done()
    }),
  subagent: () => {
    const story = work()
    story.by('sub1', 'Trace the state cookie', () => {
      story
        .say('I look where the cookie is made, and who reads it.')
        .step({ kind: 'search', args: { pattern: 'state=' }, title: 'Searched for state=' }, 3)
        .step({ kind: 'read', args: {}, locations: [`${folder}/src/auth/state.ts`], title: 'Read state.ts' }, 4)
        .step({ kind: 'execute', args: { command: 'npm test -- state' }, title: 'npm test -- state' }, 38, {
          status: 'completed',
          content: [{ type: 'text', text: '4 passed\nexit code: 0' }]
        })
        .say('Made in `state.ts`, read by **nobody** but the logout.')
    })
    return model({ transcript: story.say('Nobody reads it in the callback.').end().done() })
  },
  'waiting-said': () => {
    const later = 'And look at the logout, it does the same'
    const told = work().mine(later).done()
    const localId = told.items.findLast(item => item.type === 'mine')?.localId ?? ''
    return model({
      transcript: {
        ...told,
        partials: [{ turn: 't', block: 'b', text: 'The callback has two exits. The first one is', thinking: false, at: Date.now() }]
      },
      isWorking: true,
      queue: [{ localId, text: later, files: [], isHere: false, isThere: true }]
    })
  },
  changing: () =>
    model({
      transcript: work().done(),
      isWorking: true,
      queue: [
        { localId: 'a', text: 'And look at the logout, it does the same', files: [], isHere: false, isThere: true },
        { localId: 'b', text: 'Then write the changelog', files: [], isHere: false, isThere: false }
      ]
    }),
  composing: () =>
    model({
      transcript: work().done(),
      isWorking: true,
      queue: [
        { localId: 'a', text: 'And look at the logout, it does the same', files: [], isHere: false, isThere: true },
        { localId: 'b', text: 'Then write the changelog', files: [picture], isHere: true, isThere: false }
      ],
      files: [
        { key: '1', name: 'login-page.png', size: 812_000, state: { type: 'uploading', sent: 0.42 }, preview: drawnPicture() },
        { key: '2', name: 'trace-of-the-redirects.har', size: 64_000, state: { type: 'ready', file: { ...picture, ref: 'r2' } } },
        { key: '3', name: '24.heic', size: 2_400_000, state: { type: 'failed', why: 'no-heic' } }
      ],
      draft: 'See the picture:\nthe button jumps\nwhen the page\nis loaded twice'
    }),
  'photo-waits': () =>
    model({
      transcript: work().done(),
      files: [
        { key: '1', name: 'IMG_20261122_rack.jpg', size: 8_000_000, state: { type: 'waits', for: 'wifi' }, preview: drawnPicture() },
        { key: '2', name: 'label.jpg', size: 2_400_000, state: { type: 'waits', for: 'word' } }
      ],
      draft: 'This is how the rack looks.'
    })
}
