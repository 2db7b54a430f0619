import type { ComponentChildren } from 'preact'
import { SkyArt } from './sky.tsx'

/** Shown in place of an empty list: what will be here, and how to get it. */
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
