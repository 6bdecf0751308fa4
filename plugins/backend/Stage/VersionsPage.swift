import HTTP
import HealthModel
import JSON

/// The lists whose versions can be requested.
enum VersionList: String, CaseIterable {
    case samples, workouts, nights, days

    init(_ query: [String: String]) throws {
        guard let name = query["list"], let list = VersionList(rawValue: name) else {
            throw SyncRefusal.malformed(
                "list isn't one of " + Self.allCases.map(\.rawValue).joined(separator: ", "))
        }
        self = list
    }

    /// nil for samples.
    var kind: DocumentKind? {
        switch self {
        case .samples: nil
        case .workouts: .workout
        case .nights: .night
        case .days: .day
        }
    }
}

/// The columns of one answer, built up as JSON.
struct VersionsPage {
    let withContents: Bool
    var count = 0
    var hasMore = false
    /// The current row's id, as JSON.
    var last: [UInt8] = []
    private var ids: [UInt8] = []
    private var versions: [UInt8] = []
    private var deleted: [UInt8] = []
    private var contents: [UInt8] = []

    init(withContents: Bool) { self.withContents = withContents }

    mutating func append(version: Int64, isDeleted: Bool, content: Int64) {
        if count > 0 {
            ids.append(UInt8(ascii: ","))
            versions.append(UInt8(ascii: ","))
            deleted.append(UInt8(ascii: ","))
        }
        ids.append(contentsOf: last)
        versions.append(json: version)
        deleted.append(isDeleted ? UInt8(ascii: "1") : UInt8(ascii: "0"))
        if withContents {
            if count > 0 { contents.append(UInt8(ascii: ",")) }
            contents.append(json: content)
        }
        count += 1
    }

    func answer(_ state: BackendState) -> HTTPResponse {
        var out: [UInt8] = []
        out.reserveCapacity(ids.count + versions.count + deleted.count + contents.count + 300)
        out.append(json: "{")
        state.append(to: &out)
        out.append(json: ",\"ids\":[")
        out.append(contentsOf: ids)
        out.append(json: "],\"versions\":[")
        out.append(contentsOf: versions)
        out.append(json: "],\"deleted\":[")
        out.append(contentsOf: deleted)
        if withContents {
            out.append(json: "],\"contents\":[")
            out.append(contentsOf: contents)
        }
        out.append(json: "],\"nextCursor\":")
        if hasMore { out.append(contentsOf: last) } else { out.append(json: "null") }
        out.append(json: "}")
        return HTTPResponse(status: 200, json: out)
    }
}
