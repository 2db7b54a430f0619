import { render } from 'preact'
import { messageBody } from '../../../lib/protocol/sealed/messages.ts'
import * as v from '../../../lib/schema.ts'
import { Nav } from '../../../web/app/nav.tsx'
import { noteLink } from '../../../web/core/connection.ts'
import { startPreferences } from '../../../web/core/preferences.ts'
import { startRouter } from '../../../web/core/router.ts'
import { HomeScreen } from '../../../web/home/home.tsx'
import { updateHome } from '../../../web/model/home.ts'
import { SubagentScreen } from '../../../web/session/log/subagent.tsx'
import { OpenSession } from '../../../web/session/view.tsx'
import { WorkScreen } from '../../../web/session/work/work.tsx'
import { IconSprite } from '../../../web/ui/icons/icon.tsx'
import { Toasts } from '../../../web/ui/toasts.tsx'
import { press } from './app/press.ts'
import { busyHome, homeOf, session, studio } from './app/world.ts'
import { noting } from './asked.ts'
import { tellMore } from './session-model.ts'
import { places, presses, stories } from './sessions.ts'
import { workStories } from './work.ts'

startPreferences()
const params = new URLSearchParams(location.search)
const theme = params.get('theme')
if (theme !== null) document.documentElement.dataset['theme'] = theme
document.documentElement.dir = params.get('dir') ?? 'ltr'

const began = performance.now()
const madeSession = stories[params.get('story') ?? '']?.()
const model = madeSession && noting('session', madeSession)
const told = performance.now()
const shown = model?.facts.value
// In a session story: show the trail of this subagent.
const sub = params.get('sub')
const madeFolder = workStories[params.get('story') ?? '']?.()
const inFolder = madeFolder && { ...madeFolder, work: noting('folder', madeFolder.work) }
const facts = inFolder?.model.facts.value

// With the rail and the list beside it, for pictures.
const isFramed = params.has('framed')
if (isFramed) {
  history.replaceState(null, '', places[params.get('story') ?? ''] ?? '/s/s1')
  startRouter()
  updateHome({ type: 'restored', home: busyHome })
  noteLink({ socket: 'live', feed: 'live' })
}

/** For tests: adds a text of the agent. */
Object.assign(globalThis, {
  hear(text: string) {
    if (model === undefined) return
    const seq = (model.transcript.value.messages.at(-1)?.seq ?? 0) + 1
    const envelope = { id: `e${seq}`, time: Date.now(), role: 'agent', turn: 'now', ev: { t: 'text', text } }
    tellMore(model, { seq, localId: null, at: Date.now(), body: v.parse(messageBody, { role: 'session', content: envelope }) })
  },
  /** Adds a command that the agent has just run. */
  run(command: string) {
    if (model === undefined) return
    const seq = (model.transcript.value.messages.at(-1)?.seq ?? 0) + 1
    const about = { time: Date.now(), role: 'agent', turn: 'now' }
    const start = { t: 'tool-call-start', call: `c${seq}`, name: 'Bash', title: command, description: '', args: { command } }
    const events = [start, { t: 'tool-call-end', call: `c${seq}` }]
    const bodies = events.map((ev, index) => v.parse(messageBody, { role: 'session', content: { id: `r${seq}${index}`, ...about, ev } }))
    tellMore(model, ...bodies.map((body, index) => ({ seq: seq + index, localId: null, at: Date.now(), body })))
  },
  /** Home knows this session, on a machine with a daemon. */
  knowSession() {
    updateHome({ type: 'restored', home: homeOf([studio], [session({ title: 'SSO loses return path', id: 's1' })]) })
  },
  story: model,
  folder: inFolder?.work
})

function Page() {
  const isWide = matchMedia('(min-width: 768px) and (min-height: 30em), (min-width: 60em)').matches
  return (
    <>
      <IconSprite />
      <div class="app">
        {isWide && (isFramed ? <Nav /> : <nav class="nav" />)}
        {isWide && (
          <section class="list-pane" aria-label="Home">
            {isFramed && <HomeScreen />}
          </section>
        )}
        <main class="main" id="main">
          {inFolder && facts && <WorkScreen {...inFolder} facts={facts} onMention={() => {}} />}
          {model !== undefined && shown && sub !== null && <SubagentScreen model={model} facts={shown} id={sub} />}
          {model !== undefined && sub === null && (
            <OpenSession model={model} onSeen={seq => void Object.assign(globalThis, { seenSeq: seq })} />
          )}
          {model === undefined && inFolder === undefined && <p>{[...Object.keys(stories), ...Object.keys(workStories)].join(' ')}</p>}
        </main>
      </div>
      <Toasts />
    </>
  )
}

render(<Page />, document.body)
for (const each of presses[params.get('story') ?? ''] ?? []) await press(each)
requestAnimationFrame(() => requestAnimationFrame(() => document.documentElement.setAttribute('data-story', 'told')))

Object.assign(globalThis, { took: { fold: told - began, draw: performance.now() - told } })
