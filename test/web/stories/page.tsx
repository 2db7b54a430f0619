import '../../../web/no-eval.ts'
import { render } from 'preact'
import { IconSprite } from '../../../web/icons/icon.tsx'
import { SessionView } from '../../../web/screens/session-view.tsx'
import { stories } from './models.ts'

const params = new URLSearchParams(location.search)
const theme = params.get('theme')
if (theme !== null) document.documentElement.dataset['theme'] = theme
document.documentElement.dir = params.get('dir') ?? 'ltr'

function Page() {
  const model = stories[params.get('story') ?? '']?.()
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
