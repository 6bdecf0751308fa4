extension PluginTemplate {
    /// Only Node's own modules: no package, no dependency.
    static let node = #"""
        // @NAME@: how many hours of a day have samples, and how many samples begin in each.
        //
        // Reads JSON lines from standard input, writes JSON lines to standard output; all other output goes to standard
        // error (console.error). It keeps nothing from one day to the next: days and users arrive in any order, and a
        // day may be repeated.

        "use strict";
        const readline = require("node:readline");

        // The figures of one day, and its hourly figures; both empty without samples.
        function compute(day, pages) {
          const least = day.configuration.leastSeconds * 1e6;
          const counts = day.hours.map(() => 0);
          for (const page of pages) {
            // Columns, one entry per sample; "type" and "source" are positions in page.types and page.sources.
            // page.value[i] is null where there is no number.
            for (let i = 0; i < page.start.length; i++) {
              const [start, end] = [page.start[i], page.end[i]];
              // Samples may reach past the edges of the day.
              if (end - start < least) continue;
              const hour = day.hours.findIndex(([begin, stop]) => begin <= start && start < stop);
              if (hour >= 0) counts[hour] += 1;
            }
          }
          const hours = counts.filter((count) => count > 0).length;
          if (hours === 0) return [{}, {}]; // Without data leave the member out; never write 0.
          return [{ "@FIGURE@": hours }, { "@FIGURE@": counts }];
        }

        function say(line) {
          process.stdout.write(JSON.stringify(line) + "\n");
        }

        let day = null;
        let pages = [];
        readline.createInterface({ input: process.stdin, crlfDelay: Infinity }).on("line", (text) => {
          const line = JSON.parse(text);
          if (line.hello) {
            // A new version causes every day to be computed again: raise it when the figures change.
            say({ hello: { protocol: 1, name: "@NAME@", version: 1 } });
          } else if (line.day) {
            day = line.day;
            pages = [];
          } else if (line.samples) {
            pages.push(line.samples);
          } else if (line.compute) {
            const [figures, hourly] = compute(day, pages);
            const of = { user: day.user, date: day.date };
            if (Object.keys(figures).length > 0) {
              say({ figures, ...of });
              say({ hourly, ...of });
            }
            say({ done: day.date, user: day.user });
          }
        });

        """#
}
