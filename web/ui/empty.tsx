import type { ComponentChildren } from 'preact'
import { SkyArt } from './sky.tsx'

/** What a place looks like before there is anything in it, and what to do about that. */
export function Empty({ title, text, children }: { title: string; text: ComponentChildren; children?: ComponentChildren }) {
  return (
    <section class="empty">
      <SkyArt hasSun={false} />
      <h2>{title}</h2>
      <p>{text}</p>
      {children && <div class="empty-acts">{children}</div>}
    </section>
  )
}
