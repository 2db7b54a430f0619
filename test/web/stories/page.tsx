import '../../../web/no-eval.ts'
import { render } from 'preact'
import { messageBody } from '../../../lib/protocol/sealed/messages.ts'
import { IconSprite } from '../../../web/icons/icon.tsx'
import { SessionView } from '../../../web/screens/session-view.tsx'
import { stories, tellMore } from './models.ts'

const params = new URLSearchParams(location.search)
const theme = params.get('theme')
if (theme !== null) document.documentElement.dataset['theme'] = theme
document.documentElement.dir = params.get('dir') ?? 'ltr'

document.documentElement.style.fontSize = params.get('text') ?? ''

const began = performance.now()
const model = stories[params.get('story') ?? '']?.()
const told = performance.now()

/** For tests: a text of the agent that arrives now; how long the last steps took, in ms. */
Object.assign(globalThis, {
  hear(text: string) {
    if (model === undefined) return
    const seq = (model.transcript.value.messages.at(-1)?.seq ?? 0) + 1
    const envelope = { id: `e${seq}`, time: Date.now(), role: 'agent', turn: 'now', ev: { t: 'text', text } }
    tellMore(model, { seq, localId: null, at: Date.now(), body: messageBody.parse({ role: 'session', content: envelope }) })
  },
  story: model
})

function Page() {
  const isWide = matchMedia('(min-width: 768px)').matches
  return (
    <>
      <IconSprite />
      <div class="app">
        {isWide && <nav class="nav" />}
        {isWide && <section class="list-pane" />}
        <main class="main" id="main">
          {model === undefined ? <p>{Object.keys(stories).join(' ')}</p> : <SessionView model={model} onSeen={() => {}} />}
        </main>
      </div>
    </>
  )
}

render(<Page />, document.body)

Object.assign(globalThis, { took: { fold: told - began, draw: performance.now() - told } })
