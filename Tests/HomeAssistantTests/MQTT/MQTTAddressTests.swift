import MQTT
import Testing

@Suite struct MQTTAddressTests {
    @Test(arguments: [
        ("mqtt://127.0.0.1", "127.0.0.1", 1883, false, true),
        ("mqtts://broker.example.org", "broker.example.org", 8883, true, false),
        ("mqtt://localhost:1884/", "localhost", 1884, false, true),
        ("mqtt://[::1]:1883", "::1", 1883, false, true),
        ("MQTT://10.0.0.5:1", "10.0.0.5", 1, false, false),
        ("mqtt://127.example.org", "127.example.org", 1883, false, false),
    ])
    func isRead(_ text: String, _ host: String, _ port: Int, _ usesTLS: Bool, _ isLocal: Bool) throws {
        let address = try MQTTAddress(text)
        #expect(address.host == host && address.port == port)
        #expect(address.usesTLS == usesTLS && address.isLocal == isLocal)
    }

    @Test(arguments: [
        "", "127.0.0.1:1883", "http://127.0.0.1", "mqtt://", "mqtt://anna:secret@127.0.0.1", "mqtt://h:0",
        "mqtt://h:70000", "mqtt://h/topic", "mqtt://h?x=1",
    ])
    func isRefusedWithoutRepeatingASecret(_ text: String) throws {
        let error = #expect(throws: MQTTError.self) { try MQTTAddress(text) }
        #expect(error?.description.contains("secret") == false && error?.needsPerson == true)
    }
}
