import { LineChart } from 'echarts/charts'
import { GridComponent } from 'echarts/components'
import { init, use } from 'echarts/core'
import { LabelLayout } from 'echarts/features'
import { SVGRenderer } from 'echarts/renderers'
import { type CurveName, curves, type Point, readPoints } from './curves.ts'

/** The drawing of each curve, by its path. Of what was measured again only the last counts. */
export function drawings(points = readPoints()): Record<string, string> {
  const names = Object.keys(curves) as CurveName[]
  return Object.fromEntries(
    names.map(name => [
      `docs/images/cost-by-${name}.svg`,
      draw(
        name,
        points.filter(({ curve }) => curve === name)
      )
    ])
  )
}

use([LineChart, GridComponent, LabelLayout, SVGRenderer])

// Each is readable on white and on black, and with the marks also without colour.
const colours = ['#2a7de1', '#d2691e', '#2e9e5b', '#a64dd6']
const marks = ['circle', 'triangle', 'rect', 'diamond']

function draw(name: CurveName, points: readonly Point[]): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: 720, height: 360 })
  const axis = { type: 'log', axisLabel: { color: 'currentColor' }, axisLine: { lineStyle: { color: 'currentColor' } } }
  const { across, up } = curves[name]
  chart.setOption({
    animation: false,
    color: colours,
    grid: { left: 60, right: 180, top: 40, bottom: 50 },
    xAxis: {
      ...axis,
      splitLine: { show: false },
      name: across,
      nameLocation: 'middle',
      nameGap: 30,
      nameTextStyle: { color: 'currentColor' },
      ...rangeOf(points)
    },
    yAxis: { ...axis, name: up, nameTextStyle: { color: 'currentColor', align: 'left' }, splitLine: { lineStyle: { color: '#88888855' } } },
    series: [...Map.groupBy(points, ({ line }) => line)].map(([line, all], index) => ({
      type: 'line',
      name: line,
      silent: true,
      symbol: marks[index],
      symbolSize: 7,
      data: [...new Map(all.map(({ at, cost }) => [at, cost]))].toSorted(([a], [b]) => a - b),
      endLabel: { show: true, formatter: '{a}', color: 'inherit' },
      labelLayout: { moveOverlap: 'shiftY' }
    }))
  })
  // Without its reactions to a mouse, and without names that count the drawings of a process.
  const text = chart
    .renderToSVGString()
    .replace(/<style ?>.*<\/style>\n/s, '')
    .replaceAll(/ (class|ecmeta_\w+)="[^"]*"/g, '')
    .replaceAll(/\bzr\d+-/g, '')
  // Its timers would keep the process alive.
  chart.dispose()
  // A page embeds it as an image, which knows only the scheme of the system.
  const style = '<style>svg{color:#1f2328}@media (prefers-color-scheme:dark){svg{color:#e6edf3}}</style>'
  return `${text.replace('>', `><title>${up}, by ${across}</title>${style}`)}\n`
}

function rangeOf(points: readonly Point[]): { min: number; max: number } {
  const sizes = points.map(({ at }) => at)
  return { min: Math.min(...sizes), max: Math.max(...sizes) }
}
