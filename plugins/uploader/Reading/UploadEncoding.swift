import HealthModel
import JSON

/// Bodies of sync requests, written directly from columns.
package enum UploadEncoding {
    /// Appends the body of one request with the given rows: tombstones under `deleted`, all others under `samples`.
    ///
    /// Quarantined rows are left out: they are stored, not delivered. The page must have all columns; `unit`,
    /// `metadata`, `payload` and `healthKitUUID` may be empty columns and are then null, or left out (`payload`).
    /// - Returns: the number of elements written.
    @discardableResult
    package static func samples(
        page: SamplePage, rows: some Collection<Int>, user: String, deviceId: String, syncedAt: Instant,
        into out: inout [UInt8]
    ) -> Int {
        head(user, deviceId, syncedAt, &out)
        let fragments = PageFragments(page)
        var count = 0
        out.append(json: ",\"samples\":[")
        for row in rows where page.flags[row].isDisjoint(with: [.deleted, .quarantined]) {
            if count > 0 { out.append(UInt8(ascii: ",")) }
            fragments.append(row, of: page, to: &out)
            count += 1
        }
        var deleted = 0
        out.append(json: "],\"deleted\":[")
        for row in rows where page.flags[row].contains(.deleted) {
            if deleted > 0 { out.append(UInt8(ascii: ",")) }
            out.append(json: "{\"id\":\"")
            out.append(uuid: page.ids[row])
            out.append(json: "\",\"version\":")
            out.append(json: page.sequence[row])
            out.append(UInt8(ascii: "}"))
            deleted += 1
        }
        out.append(json: "]}")
        return count + deleted
    }

    /// One thing to delete: its id (a day's date) and the version of the deletion.
    package struct Deletion: Sendable, Equatable {
        package var id: String
        package var version: Int64

        package init(id: String, version: Int64) { (self.id, self.version) = (id, version) }
    }

    /// Appends the body for workouts: payloads of workout events, each with its `version`.
    package static func workouts(
        _ workouts: [Value], deleted: [Deletion] = [], user: String, deviceId: String, syncedAt: Instant,
        into out: inout [UInt8]
    ) {
        documents("workouts", workouts, "deleted", deleted, user, deviceId, syncedAt, &out)
    }

    /// Appends the body for nights, which go to the path for sleep.
    package static func nights(
        _ nights: [Value], deleted: [Deletion] = [], user: String, deviceId: String, syncedAt: Instant,
        into out: inout [UInt8]
    ) {
        documents("nights", nights, "deletedNights", deleted, user, deviceId, syncedAt, &out)
    }

    /// Appends the body for daily summaries, each with its `date`, `version`, `revision` and `final`.
    package static func daily(
        _ days: [Value], deleted: [Deletion] = [], user: String, deviceId: String, syncedAt: Instant,
        into out: inout [UInt8]
    ) {
        documents("days", days, "deleted", deleted, user, deviceId, syncedAt, &out)
    }

    private static func documents(
        _ name: StaticString, _ elements: [Value], _ deletedName: StaticString, _ deleted: [Deletion], _ user: String,
        _ deviceId: String, _ syncedAt: Instant, _ out: inout [UInt8]
    ) {
        head(user, deviceId, syncedAt, &out)
        out.append(json: ",\"")
        out.append(json: name)
        out.append(json: "\":[")
        for (index, element) in elements.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            out.append(contentsOf: element.json().utf8)
        }
        out.append(json: "],\"")
        out.append(json: deletedName)
        out.append(json: "\":[")
        for (index, deletion) in deleted.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            out.append(json: "{\"id\":")
            out.append(jsonString: deletion.id)
            out.append(json: ",\"version\":")
            out.append(json: deletion.version)
            out.append(UInt8(ascii: "}"))
        }
        out.append(json: "]}")
    }

    private static func head(_ user: String, _ deviceId: String, _ syncedAt: Instant, _ out: inout [UInt8]) {
        out.append(json: "{\"userId\":")
        out.append(jsonString: user)
        out.append(json: ",\"deviceId\":")
        out.append(jsonString: deviceId)
        out.append(json: ",\"syncedAt\":")
        out.append(jsonDate: syncedAt)
    }
}
