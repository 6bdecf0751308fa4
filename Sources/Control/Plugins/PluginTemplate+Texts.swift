extension PluginTemplate {
    static let python = #"""
        """@NAME@: how many hours of a day have samples, and how many samples begin in each.

        Reads JSON lines from standard input, writes JSON lines to standard output; anything else it has to say goes to
        standard error. It keeps nothing from one day to the next: days and users come in any order, and a day may come again.
        """

        import json
        import sys


        def compute(day, pages):
            """The figures of one day, and its hourly figures; none without samples."""
            least = day["configuration"]["leastSeconds"] * 1e6
            counts = [0] * len(day["hours"])
            for page in pages:
                # Columns, one entry per sample; "type" and "source" are positions in page["types"] and page["sources"].
                for start, end, value in zip(page["start"], page["end"], page["value"]):
                    # Samples reach past the edges of the day; value is None where there is no number.
                    if end - start < least:
                        continue
                    for hour, (begin, stop) in enumerate(day["hours"]):
                        if begin <= start < stop:
                            counts[hour] += 1
            hours = sum(1 for count in counts if count > 0)
            if hours == 0:
                return {}, {}  # No data is no member, never 0.
            return {"@FIGURE@": hours}, {"@FIGURE@": counts}


        def say(line):
            print(json.dumps(line, allow_nan=False), flush=True)


        for text in sys.stdin.buffer:
            line = json.loads(text)
            if "hello" in line:
                # A new version makes every day be computed again: raise it when the figures change.
                say({"hello": {"protocol": 1, "name": "@NAME@", "version": 1}})
            elif "day" in line:
                day, pages = line["day"], []
            elif "samples" in line:
                pages.append(line["samples"])
            elif "compute" in line:
                figures, hourly = compute(day, pages)
                of = {"user": day["user"], "date": day["date"]}
                if figures:
                    say({"figures": figures, **of})
                    say({"hourly": hourly, **of})
                say({"done": day["date"], "user": day["user"]})

        """#

    static let swift = #"""
        // @NAME@: how many hours of a day have samples, and how many samples begin in each.
        //
        // Reads JSON lines from standard input, writes JSON lines to standard output; all other output goes to standard
        // error. It keeps nothing from one day to the next: days and users arrive in any order, and a day may be
        // repeated.

        import Foundation

        // Read the members you know and ignore the rest: some may be added.

        struct Line: Decodable {
            var hello: Hello?
            var day: Day?
            var samples: Samples?
            var compute: String?
        }

        struct Hello: Decodable {}

        struct Day: Decodable {
            var user: String
            var date: String
            /// Microseconds since 1970: start, and end (exclusive); one range per hour of the local clock.
            var hours: [[Int]]
            var configuration: Configuration
        }

        struct Configuration: Decodable {
            var leastSeconds: Double
        }

        /// Columns, one entry per sample. "type" and "source" are there too, as positions in this line's lists.
        struct Samples: Decodable {
            var start: [Int]
            var end: [Int]
            /// nil where there is no number.
            var value: [Double?]
        }

        /// How many samples begin in each hour of a day; samples may reach past the edges of the day.
        func counts(_ day: Day, _ pages: [Samples]) -> [Int] {
            var counts = [Int](repeating: 0, count: day.hours.count)
            let least = Int(day.configuration.leastSeconds * 1e6)
            for page in pages {
                for (start, end) in zip(page.start, page.end) where end - start >= least {
                    for (hour, range) in day.hours.enumerated() where range[0] <= start && start < range[1] {
                        counts[hour] += 1
                    }
                }
            }
            return counts
        }

        func say(_ line: [String: Any]) throws {
            var data = try JSONSerialization.data(withJSONObject: line)
            data.append(0x0A)
            FileHandle.standardOutput.write(data)
        }

        let decoder = JSONDecoder()
        var day: Day?
        var pages: [Samples] = []
        while let text = readLine() {
            let line = try decoder.decode(Line.self, from: Data(text.utf8))
            if line.hello != nil {
                // A new version causes every day to be computed again: raise it when the figures change.
                try say(["hello": ["protocol": 1, "name": "@NAME@", "version": 1]])
            } else if let next = line.day {
                day = next
                pages = []
            } else if let page = line.samples {
                pages.append(page)
            } else if line.compute != nil, let day {
                let counts = counts(day, pages)
                let hours = counts.filter { $0 > 0 }.count
                // Without data leave the member out; never write 0.
                if hours > 0 {
                    try say(["figures": ["@FIGURE@": hours], "user": day.user, "date": day.date])
                    try say(["hourly": ["@FIGURE@": counts], "user": day.user, "date": day.date])
                }
                try say(["done": day.date, "user": day.user])
            }
        }

        """#

    /// Only Foundation: no package, no dependency.
    static let build = """
        #!/bin/sh
        # Builds the handler beside its source.
        set -e
        cd "$(dirname "$0")"
        swiftc -O handler.swift -o handler

        """

    var readme: String {
        let source =
            switch language {
            case .python: "handler.py"
            case .swift: "handler.swift"
            case .node: "handler.js"
            }
        let build = language != .swift ? "" : "./build.sh                                   # after each change\n"
        return """
            # @NAME@

            A handler for healthbus. `\(source)` computes one day after another from its samples; `plugin.json` says from which types.
            It gives `@FIGURE@`: the number of hours of a day with samples.

            ```
            \(build)healthbus plugins test .                     # does it keep the contract?
            healthbus up --config stack.json --import export.zip --until-idle
            healthbus days --config stack.json --json | grep @FIGURE@
            healthbus explain @FIGURE@ yesterday        # what it was made of
            ```

            Change `compute` to figures of your own, and raise `version` in the answer to `hello` whenever they change: every day is then
            computed again.

            """
    }
}
