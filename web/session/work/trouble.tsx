import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons/icon.tsx'
import { work as words } from '../../words/work.ts'
import type { WorkTrouble } from './work.ts'

/** Why the machine did not do it, next to where it was asked. */
export function TroubleNote(props: { title: string; trouble: WorkTrouble; host: string; onRetry?: () => void }) {
  return (
    <div class="problem" role="alert">
      <Icon name="circle-alert" />
      <div>
        <b>{props.title}</b>
        <span dir="auto">{troubleWords(props.trouble, props.host)}</span>
        {props.onRetry && (
          <Button look="text" onClick={props.onRetry}>
            {words.tryAgain}
          </Button>
        )}
      </div>
    </div>
  )
}

export function troubleWords({ why, says }: WorkTrouble, host: string): string {
  switch (why) {
    case 'not-connected':
      return words.trouble[why]
    case 'failed':
      // In the words of both kinds of helper, which speak English only.
      return /no such file/i.test(says) ? words.goneFile : words.trouble.failed(host, says)
    default:
      return words.trouble[why](host)
  }
}
