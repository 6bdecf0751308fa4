/// Reads a page in Prometheus' text format, and reports whatever the format or its conventions forbid, like the check
/// command of promtool.
struct PrometheusText {
    struct Sample {
        var name: String
        var labels: [(String, String)]
        var value: Double
    }

    private(set) var problems: [String] = []
    private(set) var samples: [Sample] = []
    private var kinds: [String: String] = [:]
    private var helps: Set<String> = []
    private var series: Set<String> = []
    private var closed: Set<String> = []
    private var current = ""

    init(_ text: String) {
        if !text.hasSuffix("\n") { problems.append("the last line doesn't end") }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() { read(line) }
        for (family, kind) in kinds { judge(family, kind) }
    }

    func value(_ name: String, _ labels: [String: String]) -> Double? {
        samples.first { sample in
            sample.name == name
                && labels.allSatisfy { label in sample.labels.contains { $0 == (label.key, label.value) } }
        }?.value
    }

    private mutating func read(_ line: Substring) {
        let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        if line.hasPrefix("# HELP "), words.count == 4 {
            enter(String(words[2]))
            if !helps.insert(String(words[2])).inserted { problems.append("second help: \(line)") }
            if words[3].isEmpty { problems.append("empty help: \(line)") }
        } else if line.hasPrefix("# TYPE "), words.count == 4 {
            if String(words[2]) != current { problems.append("type without help: \(line)") }
            if kinds.updateValue(String(words[3]), forKey: String(words[2])) != nil {
                problems.append("second type: \(line)")
            }
        } else if let match = line.wholeMatch(of: #/([a-zA-Z_:][a-zA-Z0-9_:]*)(\{.*\})? ([^ ]+)/#) {
            readSample(String(match.1), match.2.map { String($0.dropFirst().dropLast()) } ?? "", String(match.3), line)
        } else {
            problems.append("not a line: \(line)")
        }
    }

    private mutating func enter(_ family: String) {
        closed.insert(current)
        if closed.contains(family) { problems.append("\(family) comes in two places") }
        current = family
    }

    private mutating func readSample(_ name: String, _ set: String, _ text: String, _ line: Substring) {
        var labels: [(String, String)] = []
        var rest = set[...]
        while let match = rest.prefixMatch(of: #/([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)",?/#) {
            labels.append((String(match.1), String(match.2)))
            rest = rest[match.range.upperBound...]
        }
        if !rest.isEmpty { problems.append("labels: \(line)") }
        if Set(labels.map(\.0)).count != labels.count { problems.append("a label twice: \(line)") }
        guard let value = text == "+Inf" ? .infinity : Double(text) else { return problems.append("value: \(line)") }
        let suffixes = kinds[current] == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
        if !suffixes.contains(where: { current + $0 == name }) { problems.append("outside its family: \(line)") }
        if !series.insert("\(name){\(labels.sorted { $0 < $1 })}").inserted { problems.append("twice: \(line)") }
        samples.append(Sample(name: name, labels: labels, value: value))
    }

    private mutating func judge(_ family: String, _ kind: String) {
        if !["gauge", "counter", "histogram"].contains(kind) { problems.append("\(family) is a \(kind)") }
        if (kind == "counter") != family.hasSuffix("_total") { problems.append("\(family): _total is for counters") }
        for unit in [
            "milliseconds", "microseconds", "micros", "minutes", "hours", "days_ago", "kilobytes", "megabytes", "mb",
        ]
        where family.split(separator: "_").contains(Substring(unit)) { problems.append("\(family): \(unit)") }
        if family.contains(#/_(gauge|counter|histogram)(_|$)/#) { problems.append("\(family) names its kind") }
        if family.wholeMatch(of: #/[a-z][a-z0-9_]*/#) == nil { problems.append("\(family) isn't in snake case") }
        let own = samples.filter { $0.name.hasPrefix(family) }
        if kind != "histogram", own.contains(where: { $0.labels.contains { $0.0 == "le" } }) {
            problems.append("\(family): le is for histograms")
        }
        if kind == "counter", own.contains(where: { $0.value < 0 }) { problems.append("\(family) is negative") }
        if kind == "histogram" { judgeBuckets(family) }
    }

    private mutating func judgeBuckets(_ family: String) {
        let groups = Dictionary(grouping: samples.filter { $0.name == family + "_bucket" }) { sample in
            "\(sample.labels.filter { $0.0 != "le" })"
        }
        for (labels, buckets) in groups {
            let bounds = buckets.compactMap { bucket in bucket.labels.first { $0.0 == "le" }?.1 }
            let numbers = bounds.compactMap { $0 == "+Inf" ? .infinity : Double($0) }
            if numbers.count != buckets.count || numbers != numbers.sorted() || numbers.last != .infinity {
                problems.append("\(family)\(labels): bounds \(bounds)")
            }
            if buckets.map(\.value) != buckets.map(\.value).sorted() { problems.append("\(family)\(labels) falls") }
            let count = samples.first { "\($0.labels)" == labels && $0.name == family + "_count" }?.value
            if count != buckets.last?.value { problems.append("\(family)\(labels): count \(count ?? -1)") }
        }
    }
}
