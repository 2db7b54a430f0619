import { ButtonLink } from '../parts/button.tsx'
import { words } from '../words/index.ts'

export function UnknownScreen() {
  return (
    <div class="screen">
      <div class="scroll">
        <div class="col narrow">
          <h1 tabIndex={-1}>{words.unknown.title}</h1>
          <p class="lead">{words.unknown.text}</p>
          <ButtonLink look="quiet" href="/">
            {words.unknown.home}
          </ButtonLink>
        </div>
      </div>
    </div>
  )
}
