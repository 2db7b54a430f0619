import { Bar } from '../parts/bar.tsx'
import { ButtonLink } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { words } from '../words/index.ts'

export function UnknownScreen() {
  return (
    <div class="screen">
      <Bar title={words.app} back={{ name: 'home' }} />
      <div class="scroll">
        <div class="col">
          <Empty title={words.unknown.title} text={words.unknown.text}>
            <ButtonLink look="quiet" href="/">
              {words.unknown.home}
            </ButtonLink>
          </Empty>
        </div>
      </div>
    </div>
  )
}
