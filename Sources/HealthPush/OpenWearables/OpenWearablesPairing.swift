import HealthModel

/// How to set up the app Open Wearables: a person enters the stack's address and an invitation's code.
package struct OpenWearablesPairing: AppPairing {
    package static let name = "openWearables"
    package static let isInvited = true

    private let host: String
    private let code: String

    package init(_ phone: PairedPhone) { (host, code) = (phone.address, phone.token) }

    package var value: Value { ["host": .string(host), "code": .string(code)] }

    package func text(code: (String) -> String?) -> String {
        """
        In the app Open Wearables on the iPhone:

        1. Enter these, and tap Connect:

           API URL          \(host)
           Invitation Code  \(self.code)

        2. Allow all that the app asks to read in Apple Health, and start the sync.
        3. Keep the app open until the first sync is over. 'healthbus days' shows the days that have come.

        """
    }
}
