// Draws the report's figures. `report-data` holds plotly figures (made by plotly.py) and the tables their hover texts
// come from. Names in the tables are already escaped for text that plotly draws; byte amounts are decimal strings, since
// they may pass 2^53. Steps count from 0 in the tables and from 1 for readers.
"use strict";
(function () {
  const page = JSON.parse(document.getElementById("report-data").textContent);
  const UNITS = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]];
  const ON_PAPER = { width: 680, height: 300, autosize: false };

  function grouped(digits) {
    return String(digits).replace(/\B(?=(\d{3})+$)/g, ",");
  }

  function amount(digits) {
    const unit = UNITS.find(([bytes]) => Number(digits) >= bytes);
    const exact = `${grouped(digits)} byte${digits === "1" ? "" : "s"}`;
    return unit ? `${exact} (${(Number(digits) / unit[0]).toFixed(2)} ${unit[1]})` : exact;
  }

  function stepText(order, index) {
    const [step, op, before, during, after, liveCount, largest] = page.steps[order][index];
    const start = step - (step % page.stretch) + 1;
    const end = Math.min(start + page.stretch - 1, page.step_count);
    const lines = [
      `<b>step ${grouped(step + 1)}: ${page.ops[op]}</b>`,
      `${amount(during)} while it runs`,
      `${grouped(before)} bytes live before, ${grouped(after)} after`,
    ];
    if (start !== end) {
      lines.push(`the highest of steps ${grouped(start)} to ${grouped(end)}`);
    }
    lines.push(`${grouped(liveCount)} live tensor${liveCount === 1 ? "" : "s"}${
      liveCount > largest.length ? ", the largest:" : liveCount ? ":" : ""}`);
    for (const tensor of largest) {
      const [name, bytes] = page.tensors[tensor];
      lines.push(`  ${grouped(bytes)}  ${name}`);
    }
    return lines.join("<br>");
  }

  function tensorText(trace, index) {
    const [name, bytes, maker, note] = page.tensors[trace.customdata[index]];
    const first = trace.base[index] + 0.5;
    const last = first + trace.x[index] - 1;
    const origin = maker < 0 ? "graph input" : `made by ${page.ops[maker]}`;
    return [
      `<b>${name}</b>`,
      amount(bytes),
      first === last ? `step ${grouped(first)} only` : `steps ${grouped(first)} to ${grouped(last)}`,
      origin + note,
      trace.name,
    ].join("<br>");
  }

  function addHoverTexts(trace) {
    const { role, order } = trace.meta;
    if (role === "steps" || role === "binding") {
      const prefix = role === "binding" ? "<b>binding step</b><br>" : "";
      trace.hovertext = trace.customdata.map((index) => prefix + stepText(order, index));
    } else if (role === "tensors") {
      trace.hovertext = trace.customdata.map((_, index) => tensorText(trace, index));
    }
  }

  const config = {
    responsive: true,
    displaylogo: false,
    showSendToCloud: false,
    plotlyServerURL: "",
    modeBarButtonsToRemove: ["select2d", "lasso2d"],
  };
  const plots = [];
  const heights = new Map();

  function followZoom(source) {
    source.on("plotly_relayout", (change) => {
      const range = source.layout.xaxis.range;
      if (!Object.keys(change).some((key) => key.startsWith("xaxis."))) return;
      for (const plot of plots) {
        const own = plot.layout.xaxis.range;
        if (plot !== source && (own[0] !== range[0] || own[1] !== range[1])) {
          Plotly.relayout(plot, { "xaxis.range": [range[0], range[1]] });
        }
      }
    });
  }

  for (const [id, figure] of Object.entries(page.figures)) {
    figure.data.forEach(addHoverTexts);
    const plot = document.getElementById(id);
    plots.push(plot);
    heights.set(plot, figure.layout.height);
    Plotly.newPlot(plot, figure.data, figure.layout, config).then(followZoom);
  }

  // A plot is as wide as the window it was drawn in; paper is narrower.
  window.addEventListener("beforeprint", () => {
    for (const plot of plots) Plotly.relayout(plot, ON_PAPER);
  });
  window.addEventListener("afterprint", () => {
    for (const plot of plots) {
      Plotly.relayout(plot, { width: null, height: heights.get(plot), autosize: true });
    }
  });
})();
