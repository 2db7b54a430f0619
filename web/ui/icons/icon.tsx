import { type IconName, lucide } from './lucide.ts'

export type { IconName } from './lucide.ts'

/** Decoration: whoever uses it gives the words. One that points along the line turns round where lines run the other way. */
export function Icon({ name, class: extra = '' }: { name: IconName; class?: string }) {
  return (
    <svg class={`i ${/-(left|right)$/.test(name) ? 'points ' : ''}${extra}`} viewBox="0 0 24 24" aria-hidden="true">
      <use href={`#i-${name}`} />
    </svg>
  )
}

/** All icons once, to be referred to by `Icon`. Drawn by the app, since a page under our policy may not fetch or inject markup. */
export function IconSprite() {
  return (
    <svg class="sprite" width="0" height="0" aria-hidden="true">
      {Object.entries(lucide).map(([name, path]) => (
        <symbol key={name} id={`i-${name}`} viewBox="0 0 24 24">
          <path d={path} />
        </symbol>
      ))}
    </svg>
  )
}
