import { joining } from '../words/joining.ts'
import { groupsOf } from './text.ts'

/** The key in its eleven numbered groups. Hidden while the app is in the background, so that no screenshot of the app shows it. */
export function KeyGroups({ value, isShown }: { value: string | undefined; isShown: boolean }) {
  if (value === undefined) return <div class="key-groups" aria-busy="true" />
  return (
    <ol class={`key-groups ${isShown ? '' : 'covered'}`} aria-label={joining.key.label} translate={false}>
      {groupsOf(value).map((group, index) => (
        <li key={group + index}>
          <span aria-hidden="true">{index + 1}</span>
          <code>{isShown ? group : '·····'}</code>
        </li>
      ))}
    </ol>
  )
}
