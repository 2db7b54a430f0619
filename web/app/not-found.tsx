import { pathOf } from '../core/routes.ts'
import { Bar } from '../ui/bar.tsx'
import { ButtonLink } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import { words } from '../words/index.ts'

export function NotFoundScreen() {
  return (
    <div class="screen">
      <Bar title={words.app} back={pathOf({ name: 'home' })} />
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
