import HTTP
import HealthModel
import HealthPush
import Testing

/// Where a request goes, and who is let in there.
struct IngestRouteTests {
    @Test func aPushIsAdmittedOnce() throws {
        let rig = try IngestRig()
        for way in WayIn.all where way.proof == .bearer {
            let before = rig.lookups
            let body = #"{"samples": [], "data": {}, "provider": "apple", "metrics": [], "source": "healthkit_ios"}"#
            let path = IngestRig.path(way.path)
            #expect(try rig.send("POST", path, body: body, type: way.types.first).status == way.status)
            #expect(rig.lookups == before + 1, "\(way.path)")
        }
    }

    /// A path's variable component is any single one of at most 64 bytes.
    @Test(arguments: [
        ("/v1/events/one", "there is no such event"), ("/v1/events/%20", "there is no such event"),
        ("/v1/events/", "there is no such path"), ("/v1/events/a/b", "there is no such path"),
        ("/v1/events/" + String(repeating: "a", count: 65), "there is no such path"),
        ("/v1/samples/", "there is no such path"), ("v1/samples", "there is no such path"),
        ("/v1/files/0123abcd", "there is no such path"),
    ])
    func aPathLeadsToOneRoute(_ path: String, _ error: String) throws {
        let answer = try IngestRig().send("GET", path, token: "owner")
        #expect(answer.status == 404 && answer.text.contains(error), "\(answer.text)")
    }
}
