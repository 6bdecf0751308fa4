import Foundation
import HealthModel
import HealthPush
import Testing

/// Other people's requests, if there are any: in `HEALTHBUS_FIXTURES`, or beside the repository.
private let fixtures: String? = {
    let beside = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../shared/fixtures").standardized.path
    let folder = ProcessInfo.processInfo.environment["HEALTHBUS_FIXTURES"] ?? beside
    let requests = folder + "/health-auto-export"
    return FileManager.default.fileExists(atPath: requests) ? requests : nil
}()

@Suite(.enabled(if: fixtures != nil)) struct AutoExportFixtureTests {
    private func read(_ name: String) throws -> PushedChanges {
        let path = (fixtures ?? "") + "/" + name
        let body = try Data(contentsOf: URL(fileURLWithPath: path))
        return try HealthAutoExport.changes(in: Array(body), aggregation: nil, now: testNow)
    }

    @Test(arguments: [
        ("marshal_test_payload_1.json", 0, 2, 0), ("marshal_test_payload_2.json", 1, 0, 0),
        ("marshal_test_payload_3.json", 0, 1, 0), ("marshal_test_payload_4.json", 1, 0, 0),
        ("marshal_test_payload_6.json", 0, 0, 0), ("marshal_test_payload_7.json", 0, 2, 0),
        ("marshal_test_payload_8.json", 1, 0, 0), ("marshal_test_payload_9.json", 0, 1, 0),
        ("marshal_test_payload_10.json", 1, 0, 0), ("marshal_test_payload_11.json", 0, 1, 0),
        ("oboleto_sample_payload.json", 1, 3, 0),
    ])
    func eachRequestIsReadWhole(name: String, samples: Int, statistics: Int, quarantined: Int) throws {
        let changes = try read(name)
        #expect(changes.samples.count == samples && changes.statistics.count == statistics)
        #expect(changes.quarantined.count == quarantined)
    }

    @Test func theInvalidOneIsRefused() {
        #expect(throws: PushError.self) { try read("marshal_test_payload_5.json") }
    }

    @Test func theSameRequestInAnotherOrderIsTheSame() throws {
        for (a, b) in [(1, 7), (2, 8), (3, 9), (4, 10)] {
            let rows = try read("marshal_test_payload_\(a).json").rows
            #expect(try read("marshal_test_payload_\(b).json").rows == rows && !rows.isEmpty)
        }
    }
}
