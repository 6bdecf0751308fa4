import BackgroundDelivery
import Configuration
import DeliveryKit
import HealthModel
import Protocol
import StageKit
import TestSupport
import Testing

@Suite struct DeliveryDetailsTests {
    private func details(_ keeps: DestinationDeclaration.Keeps) throws -> Value {
        let rig = try UploaderRig(.init(destination: .init(.server, keeps: keeps)))
        return Value(try rig.rig.report().details)
    }

    @Test func whatADestinationDoesNotHaveIsAbsent() throws {
        let (versions, latest) = (try details(.versions), try details(.latest))
        #expect(versions["conflicts"] == 0 && latest.object?["conflicts"] == nil)
        #expect(latest.object?["path"] == nil, "it isn't known")
        #expect(latest.object?["keptLocal"] == nil && latest.object?["blocked"] == .null)
    }

    /// Releases differ in how they say that no path is known.
    @Test func eachReleaseReadsTheOther() throws {
        struct Former: Decodable { @OrNull var path: NetworkPath? }
        var object = try #require(try details(.latest).object)
        #expect(Value.object(object).read(UploaderDetails.self) != nil)
        let former = try #require(Value.object(object).read(Former.self))
        #expect(former.path == nil)
        object["path"] = .null
        #expect(Value.object(object).read(UploaderDetails.self)?.path == nil)
        object["path"] = ["satisfied": true, "interface": "wifi"]
        #expect(Value.object(object).read(UploaderDetails.self)?.path?.interface == .wifi)
    }
}
