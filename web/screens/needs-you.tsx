import { Bar } from '../parts/bar.tsx'
import { ButtonLink } from '../parts/button.tsx'
import { DecisionCard } from '../parts/decision-card.tsx'
import { Empty } from '../parts/empty.tsx'
import { now } from '../state/clock.ts'
import { isStale } from '../state/connection.ts'
import { decisions } from '../state/groups.ts'
import { words } from '../words/index.ts'

/** Everything that waits for a person, the one that waits longest first. */
export function NeedsYouScreen() {
  const waiting = decisions.value
  return (
    <div class="screen">
      <Bar title={words.needsYou.title} back={{ name: 'home' }} />
      <div class="scroll">
        <div class="col">
          {waiting.length === 0 ? (
            <Empty title={words.needsYou.empty} text={words.needsYou.emptyText}>
              <ButtonLink look="quiet" href="/">
                {words.needsYou.toHome}
              </ButtonLink>
            </Empty>
          ) : (
            <div class="asks">
              <h2 class="vh">{words.home.decisions}</h2>
              {waiting.map(decision => (
                <DecisionCard
                  key={`${decision.session.id} ${decision.request.id}`}
                  decision={decision}
                  isCurrent={false}
                  isStale={isStale.value}
                  at={now.value}
                />
              ))}
            </div>
          )}
        </div>
      </div>
    </div>
  )
}
