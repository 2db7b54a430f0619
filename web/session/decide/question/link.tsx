import { useId } from 'preact/hooks'
import { useInert } from '../../../ui/behavior/inert.ts'
import { Icon } from '../../../ui/icons/icon.tsx'
import { decide as words } from '../../../words/decide.ts'
import { session } from '../../../words/session.ts'
import { AnswerLife, failureWords } from '../answer-state.tsx'
import { Command } from '../command.tsx'
import { AskDock, type QuestionProps } from './ask-dock.tsx'

/** A page that the agent wants to open: its whole address and where that really leads. */
export function LinkQuestion(props: QuestionProps & { url: string }) {
  const { url, facts, mine, isCurrent, question } = props
  const isInert = useInert(`${question.id} ${question.shown ?? ''}`)
  const title = useId()
  const address = safeAddress(url)
  const isSent = mine !== undefined && mine.type !== 'failed'
  return (
    <AskDock {...props} titleId={title} above={words.linkOf(facts.agentShort)} title={words.linkTitle}>
      <div class="dock-b">
        {question.title !== undefined && question.title !== '' && (
          <p class="why" dir="auto">
            {question.title}
          </p>
        )}
        <Command text={url} marks={[]} isLarge />
        <p class="where">
          <Icon name="globe" />
          {address === undefined ? (
            <b>{words.linkBad}</b>
          ) : (
            <>
              {words.linkHost} <b>{address.host}</b>
            </>
          )}
        </p>
        <p class="hint">{words.linkHint}</p>
      </div>
      <footer class="dock-f">
        {isSent ? (
          <AnswerLife life={mine} facts={facts} onWithdraw={() => props.onWithdraw?.()} />
        ) : (
          <>
            {mine?.type === 'failed' && <p class="problem">{failureWords(mine, facts)}</p>}
            <div class="acts two">
              <button class="btn quiet lg" type="button" disabled={!isCurrent} onClick={() => !isInert && props.onAnswer(undefined)}>
                {words.linkRefuse}
              </button>
              <a
                class="btn primary lg"
                href={address?.href ?? '#'}
                target="_blank"
                rel="noopener noreferrer"
                aria-disabled={address === undefined || !isCurrent ? true : undefined}
                onClick={event => {
                  if (isInert || !isCurrent || address === undefined) event.preventDefault()
                  else props.onAnswer({})
                }}
              >
                {words.linkOpen}
              </a>
            </div>
            <p class="dock-s">{isCurrent ? words.waitsForAnswer : session.stillOpen}</p>
          </>
        )}
      </footer>
    </AskDock>
  )
}

function safeAddress(url: string): URL | undefined {
  if (!URL.canParse(url)) return undefined
  const address = new URL(url)
  return address.protocol === 'https:' || address.protocol === 'http:' ? address : undefined
}
