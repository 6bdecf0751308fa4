import Configuration
import HealthModel
import HealthResources
import JSON
import Protocol

/// Days, nights and workouts as rows of a file. A year has only hundreds of them, so each one is decoded into a
/// `Value`.
package struct DocumentRows: Sendable {
    /// A column: its name, and where it is in a document.
    package struct Column: Equatable, Sendable {
        package enum Source: Equatable, Sendable {
            case user, version
            case member([String])
        }

        var name: String
        var source: Source
        /// Whether it holds numbers that may have decimals.
        var isReal = false

        init(_ name: String, _ source: Source) { (self.name, self.source) = (name, source) }
        init(_ name: String, _ member: String...) { self.init(name, .member(member)) }
        /// Named after its member.
        init(_ member: String) { self.init(Self.name(of: [member]), .member([member])) }

        static func real(_ name: String, _ member: String...) -> Column { Column(name, .member(member)).asReal }
        static func real(_ member: String) -> Column { Column(member).asReal }

        private var asReal: Column {
            var column = self
            column.isReal = true
            return column
        }

        /// `heartRate.average` becomes `heart_rate_average`, `hrvSDNNMilliseconds` becomes `hrv_sdnn_milliseconds`;
        /// anything that isn't an ASCII letter or digit becomes `_`.
        package static func name(of path: [String]) -> String {
            let letters = Array(path.joined(separator: "_").unicodeScalars)
            func isUpper(_ letter: Unicode.Scalar) -> Bool { ("A"..."Z").contains(letter) }
            func isLower(_ letter: Unicode.Scalar) -> Bool { ("a"..."z").contains(letter) }
            var name = ""
            for (index, letter) in letters.enumerated() {
                guard isUpper(letter) else {
                    name += isLower(letter) || ("0"..."9").contains(letter) ? String(letter) : "_"
                    continue
                }
                let endsCapitals = index + 1 < letters.count && isLower(letters[index + 1])
                if index > 0, letters[index - 1] != "_", !isUpper(letters[index - 1]) || endsCapitals { name += "_" }
                name += letter.properties.lowercaseMapping
            }
            return name
        }
    }

    private static let user = Column("user_id", .user)
    private static let version = Column("version", .version)

    static func days(_ figures: [FigureDeclaration]) -> [Column] {
        var columns = [user, Column("date"), Column("zone"), Column("final"), Column("revision"), version]
        var names = Set(columns.map(\.name))
        for figure in figures {
            let wanted = Column.name(of: figure.path)
            var name = wanted
            var number = 1
            while !names.insert(name).inserted {
                number += 1
                name = "\(wanted)_\(number)"
            }
            var column = Column(name, .member(figure.path))
            column.isReal = figure.form == .number
            columns.append(column)
        }
        return columns
    }

    private static let nights = [
        user, Column("id"), Column("date"), Column("start_date", "start"), Column("end_date", "end"), Column("main"),
        .real("asleepMinutes"), .real("inBedMinutes"), .real("awakeMinutes"), .real("coreMinutes"),
        .real("deepMinutes"), .real("remMinutes"), .real("unspecifiedMinutes"), .real("latencyMinutes"),
        .real("wakeAfterOnsetMinutes"), .real("efficiency"), Column("source"), Column("sources"),
        version,
    ]

    private static let workouts = [
        user, Column("id"), Column("activity", "type"), Column("start_date", "startDate"),
        Column("end_date", "endDate"), .real("duration_seconds", "duration"), .real("distance_meters", "distance"),
        .real("active_energy_kcal", "activeEnergy"), .real("heart_rate_average", "heartRate", "average"),
        .real("heart_rate_min", "heartRate", "minimum"), .real("heart_rate_max", "heartRate", "maximum"),
        .real("ascent_meters", "route", "ascentMeters"), .real("descent_meters", "route", "descentMeters"),
        Column("route_points", "route", "points"), .real("swimming_strokes", "swimmingStrokes"), Column("metadata"),
        version,
    ]

    let columns: [Column]
    let format: FileFormat
    let user: String
    private let content: FileSpan.Content
    private let resources: Observations

    /// - Parameters:
    ///   - figures: those of the stack, in the order of columns.
    ///   - layout: determines what FHIR resources contain.
    package init(
        _ span: FileSpan, figures: [FigureDeclaration], layout: FilesLayout = FilesLayout()
    ) {
        content = span.content
        resources = layout.resources(of: span.user, figures: figures.resources)
        columns =
            switch span.content {
            case .days: Self.days(figures)
            case .nights: Self.nights
            case .workouts: Self.workouts
            case .samples: []
            }
        format = span.format
        user = span.user
    }

    /// The file's first line.
    static func head(_ span: FileSpan, figures: [FigureDeclaration]) -> [UInt8] {
        guard span.format == .csv else { return [] }
        let names =
            if case .samples = span.content { SampleRows.columns } else {
                DocumentRows(span, figures: figures).columns.map(\.name)
            }
        return Array((names.joined(separator: ",") + "\n").utf8)
    }

    /// A document's rows: as columns, whole as JSON, or as a standard's resources.
    /// - Returns: the rows with their line ends, and their number.
    package func rows(_ document: Value, version: Int64) -> (bytes: [UInt8], count: Int64) {
        switch format {
        case .csv: return (csv(document, version), 1)
        case .ndjson:
            var members = document.object ?? [:]
            members["user_id"] = .string(user)
            members["user"] = nil
            members["version"] = .integer(version)
            var line: [UInt8] = []
            line.append(document: .object(members))
            line.append(UInt8(ascii: "\n"))
            return (line, 1)
        case .fhir: return Self.lines(fhir(document).map { [$0] } ?? [])
        case .openMHealth: return Self.lines(openMHealth(document))
        }
    }

    private static func lines(_ values: [Value]) -> (bytes: [UInt8], count: Int64) {
        (values.flatMap { Array($0.json().utf8) + [UInt8(ascii: "\n")] }, Int64(values.count))
    }

    private func id(_ document: Value) -> String? { document[content == .days ? "date" : "id"].string }

    private func fhir(_ document: Value) -> Value? {
        guard let id = id(document) else { return nil }
        return switch content {
        case .days: resources.day(document, id: id)
        case .nights: resources.night(document, id: id)
        case .workouts: resources.workout(document, id: id)
        case .samples: nil
        }
    }

    private func openMHealth(_ document: Value) -> [Value] {
        guard let id = id(document) else { return [] }
        let points = OpenMHealth(user: user)
        return switch content {
        case .days: points.day(document, id: id)
        case .nights: points.night(document, id: id)
        case .workouts: points.workout(document, id: id)
        case .samples: []
        }
    }

    private func csv(_ document: Value, _ version: Int64) -> [UInt8] {
        var out: [UInt8] = []
        for (index, column) in columns.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            switch column.source {
            case .user: out.append(csv: user)
            case .version: out.append(json: version)
            case .member(let path):
                switch path.reduce(document, { $0[$1] }) {
                case .null: break
                case let number where column.isReal && number.double != nil: out.append(real: number.double ?? .nan)
                case .string(let text): out.append(csv: text)
                case let other: out.append(csv: other.json())
                }
            }
        }
        out.append(UInt8(ascii: "\n"))
        return out
    }
}

/// The rows of one file as reported by its producers: each key once, as of its latest change.
struct DocumentCollection {
    private struct Row {
        /// Date, then start, then key.
        var place: [String]
        var bytes: [UInt8]
        var count: Int64
    }

    private var rows: [String: Row] = [:]
    let rowsMaker: DocumentRows
    let content: FileSpan.Content
    let days: ClosedRange<Int>

    init(_ span: FileSpan, figures: [FigureDeclaration], layout: FilesLayout) {
        rowsMaker = DocumentRows(span, figures: figures, layout: layout)
        content = span.content
        days = span.period.days
    }

    /// - Parameter producer: the producer, within which keys are unique.
    mutating func take(_ page: ChangesPage, from producer: String) {
        for row in page.rows where row.user == rowsMaker.user {
            let key = "\(producer)/\(row.key)"
            guard let day = row.day, days.contains(day), row.lists.contains(where: { Self.content(of: $0) == content }),
                let document = document(of: row), document.object != nil
            else {
                rows[key] = nil
                continue
            }
            let start = document["start"].string ?? document["startDate"].string ?? ""
            let made = rowsMaker.rows(document, version: row.sequence.value)
            rows[key] = Row(
                place: [LocalDay(number: day).description, start, key], bytes: made.bytes, count: made.count)
        }
    }

    private func document(of row: ChangedRow) -> Value? {
        content == .days ? row.body : row.body?.read(EventBody.self)?.event
    }

    static func content(of list: DocumentList) -> FileSpan.Content {
        switch list {
        case .days: .days
        case .nights: .nights
        case .workouts: .workouts
        }
    }

    /// The number of lines.
    var count: Int64 { rows.values.reduce(0) { $0 + $1.count } }

    /// Ordered by date and start.
    var bytes: [UInt8] {
        rows.values.sorted { $0.place.lexicographicallyPrecedes($1.place) }.flatMap(\.bytes)
    }
}
