import { type IconName, lucide } from './lucide.ts'

export type { IconName } from './lucide.ts'

/** Decorative: callers add the text. Icons that point left or right are mirrored in right-to-left languages. */
export function Icon({ name, class: extra = '' }: { name: IconName; class?: string }) {
  return (
    <svg class={`i ${/-(left|right)$/.test(name) ? 'points ' : ''}${extra}`} viewBox="0 0 24 24" aria-hidden="true">
      <use href={`#i-${name}`} />
    </svg>
  )
}

/** All icons once, referred to by `Icon`. Rendered by the app, since the page's policy permits no fetched or injected markup. */
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
